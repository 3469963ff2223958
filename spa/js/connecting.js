// How each client is told of the server: what goes into which of its files.

const NAME = "quick-memory";

/** Clients by name: what people call them, and where their setting lives. */
export const CLIENTS = {
    "claude-code": { title: "Claude Code", file: "a terminal", isCommand: true },
    "claude-desktop": { title: "Claude Desktop", file: "claude_desktop_config.json", isStdioOnly: true },
    cursor: { title: "Cursor", file: "~/.cursor/mcp.json" },
    vscode: { title: "VS Code", file: ".vscode/mcp.json" },
    codex: { title: "Codex", file: "~/.codex/config.toml" },
    gemini: { title: "Gemini CLI", file: "~/.gemini/settings.json" },
    windsurf: { title: "Windsurf", file: "~/.codeium/windsurf/mcp_config.json" },
};

/** Return the text that connects a client; `way` is "http" or "bridge". */
export function snippetOf(client, { way, origin, project, key }) {
    const isBridge = way === "bridge" || CLIENTS[client].isStdioOnly;
    const given = { url: `${origin}/mcp/${encodeURIComponent(project)}`, origin, project, key: key || "qms_…" };
    return isBridge ? bridgeSnippet(client, given) : httpSnippet(client, given);
}

function httpSnippet(client, { url, key }) {
    const headers = { Authorization: `Bearer ${key}` };
    switch (client) {
        case "claude-code":
            return `claude mcp add --transport http ${NAME} ${url} --header "Authorization: Bearer ${key}"`;
        case "vscode": return pretty({ servers: { [NAME]: { type: "http", url, headers } } });
        case "codex": return [
            `# export QMS_KEY=${key}`, `[mcp_servers.${NAME}]`, `url = "${url}"`, 'bearer_token_env_var = "QMS_KEY"',
        ].join("\n");
        case "gemini": return pretty({ mcpServers: { [NAME]: { httpUrl: url, headers } } });
        case "windsurf": return pretty({ mcpServers: { [NAME]: { serverUrl: url, headers } } });
        default: return pretty({ mcpServers: { [NAME]: { url, headers } } });
    }
}

function bridgeSnippet(client, { origin, project, key }) {
    const args = ["bridge", "--url", origin, "--project", project];
    const server = { command: "qms", args, env: { QMS_KEY: key } };
    switch (client) {
        case "claude-code": return `claude mcp add ${NAME} --env QMS_KEY=${key} -- qms ${args.join(" ")}`;
        case "vscode": return pretty({ servers: { [NAME]: { type: "stdio", ...server } } });
        case "codex": return [
            `[mcp_servers.${NAME}]`, 'command = "qms"', `args = ${JSON.stringify(args)}`,
            `env = { QMS_KEY = "${key}" }`,
        ].join("\n");
        default: return pretty({ mcpServers: { [NAME]: server } });
    }
}

function pretty(value) {
    return JSON.stringify(value, null, 2);
}
