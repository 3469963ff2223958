// The commands of the API console, from the server's OpenAPI document, and the curl line of a call.

const COMMAND = /^\/api\/v1\/\{project\}\/([A-Za-z_]+)$/;

/** Return the commands of a project, by name: `{ name, summary, needs, toolset, example }`. */
export function commandsOf({ paths }) {
    return Object.entries(paths).flatMap(([path, { post }]) => {
        const found = COMMAND.exec(path);
        return found && post ? [{
            name: found[1], summary: post.summary ?? "", needs: post.description ?? "", toolset: post.tags?.[0] ?? "",
            example: post.requestBody?.content?.["application/json"]?.example ?? {},
        }] : [];
    }).sort((one, other) => one.name.localeCompare(other.name));
}

/** Return the curl line of a call; the key is a variable of the shell, never the key itself. */
export function curlOf({ origin, project, name, text }) {
    const address = `${origin}/api/v1/${encodeURIComponent(project)}/${name}`;
    return [
        `curl -sS ${quoted(address)} \\`,
        '  -H "Authorization: Bearer $QMS_KEY" \\',
        "  -H 'Content-Type: application/json' \\",
        `  -d ${quoted(text)}`,
    ].join("\n");
}

/** Return the text as one line of JSON if it is JSON, else as it is. */
export function compact(text) {
    try {
        return JSON.stringify(JSON.parse(text));
    } catch {
        return text;
    }
}

function quoted(text) {
    return `'${text.replaceAll("'", "'\\''")}'`;
}
