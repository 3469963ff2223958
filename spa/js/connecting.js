// Builds the settings that connect each client to the server.

const NAME = "quick-memory";

/** Clients by name: their title and their settings file. */
export const CLIENTS = {
    "claude-code": { title: "Claude Code", file: "a terminal", isCommand: true },
    "claude-desktop": { title: "Claude Desktop", file: "claude_desktop_config.json", isStdioOnly: true },
    cursor: { title: "Cursor", file: "~/.cursor/mcp.json" },
    vscode: { title: "VS Code", file: ".vscode/mcp.json" },
    codex: { title: "Codex", file: "~/.codex/config.toml" },
    gemini: { title: "Gemini CLI", file: "~/.gemini/settings.json" },
    windsurf: { title: "Windsurf", file: "~/.codeium/windsurf/mcp_config.json" },
    opencode: { title: "opencode", file: "~/.config/opencode/opencode.json" },
    zed: { title: "Zed", file: "~/.config/zed/settings.json" },
    goose: { title: "Goose", file: "~/.config/goose/config.yaml" },
};

/** The toolsets that the dialog offers, the one for most clients first; "" is the project's default. */
export const TOOLSETS = [
    ["lite", "Lite: five tools to remember and recall"],
    ["core", "Core: all commands for memories"],
    ["", "The project's default"],
];

/** Return the settings of a client as text; `way` is "http" or "bridge". */
export function snippetOf(client, { way, origin, project, key, toolsets = "" }) {
    const isBridge = way === "bridge" || CLIENTS[client].isStdioOnly;
    const query = toolsets ? `?toolsets=${encodeURIComponent(toolsets)}` : "";
    const url = `${origin}/mcp/${encodeURIComponent(project)}${query}`;
    const given = { url, origin, project, key: key || "qms_…", toolsets };
    return isBridge ? bridgeSnippet(client, given) : httpSnippet(client, given);
}

/** Return the address that opens a client and installs the server in it; "" for clients without one. */
export function installLink(client, given) {
    const snippet = snippetOf(client, given);
    switch (client) {
        case "cursor": {
            const config = base64(JSON.stringify(JSON.parse(snippet).mcpServers[NAME]));
            return `cursor://anysphere.cursor-deeplink/mcp/install?name=${NAME}&config=${encodeURIComponent(config)}`;
        }
        case "vscode": {
            const config = { name: NAME, ...JSON.parse(snippet).servers[NAME] };
            return `vscode:mcp/install?${encodeURIComponent(JSON.stringify(config))}`;
        }
        default: return "";
    }
}

function httpSnippet(client, { url, key }) {
    const headers = { Authorization: `Bearer ${key}` };
    switch (client) {
        case "claude-code":
            // Quoted: some shells expand the question mark of the toolsets.
            return `claude mcp add --transport http ${NAME} "${url}" --header "Authorization: Bearer ${key}"`;
        case "vscode": return pretty({ servers: { [NAME]: { type: "http", url, headers } } });
        case "codex": return [
            `# export QMS_KEY=${key}`, `[mcp_servers.${NAME}]`, `url = "${url}"`, 'bearer_token_env_var = "QMS_KEY"',
        ].join("\n");
        case "gemini": return pretty({ mcpServers: { [NAME]: { httpUrl: url, headers } } });
        case "windsurf": return pretty({ mcpServers: { [NAME]: { serverUrl: url, headers } } });
        case "opencode": return pretty({ mcp: {
            [NAME]: { type: "remote", url, headers, enabled: true, oauth: false },
        } });
        case "zed": return pretty({ context_servers: { [NAME]: { url, headers } } });
        case "goose": return gooseSnippet({ type: "streamable_http", uri: url, headers });
        default: return pretty({ mcpServers: { [NAME]: { url, headers } } });
    }
}

function bridgeSnippet(client, { origin, project, key, toolsets }) {
    const args = ["bridge", "--url", origin, "--project", project, ...(toolsets ? ["--toolsets", toolsets] : [])];
    const server = { command: "qms", args, env: { QMS_KEY: key } };
    switch (client) {
        case "claude-code": return `claude mcp add ${NAME} --env QMS_KEY=${key} -- qms ${args.join(" ")}`;
        case "vscode": return pretty({ servers: { [NAME]: { type: "stdio", ...server } } });
        case "codex": return [
            `[mcp_servers.${NAME}]`, 'command = "qms"', `args = ${JSON.stringify(args)}`,
            `env = { QMS_KEY = "${key}" }`,
        ].join("\n");
        case "opencode": return pretty({ mcp: {
            [NAME]: { type: "local", command: ["qms", ...args], environment: server.env, enabled: true },
        } });
        case "zed": return pretty({ context_servers: { [NAME]: server } });
        case "goose": return gooseSnippet({ type: "stdio", cmd: "qms", args, envs: server.env });
        default: return pretty({ mcpServers: { [NAME]: server } });
    }
}

function gooseSnippet(settings) {
    const fields = Object.entries({ enabled: true, name: NAME, ...settings, timeout: 300 });
    const lines = fields.map(([name, value]) => `    ${name}: ${JSON.stringify(value)}`);
    return ["extensions:", `  ${NAME}:`, ...lines].join("\n");
}

function base64(text) {
    return btoa(String.fromCodePoint(...new TextEncoder().encode(text)));
}

function pretty(value) {
    return JSON.stringify(value, null, 2);
}
