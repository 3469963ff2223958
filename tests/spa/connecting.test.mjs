import assert from "node:assert/strict";
import test from "node:test";

import { CLIENTS, snippetOf } from "../../spa/js/connecting.js";

const given = { origin: "http://127.0.0.1:5080", project: "projA", key: "qms_secret" };

test("every client gets a snippet with the address and the key, over HTTP and over the bridge", () => {
    for (const client of Object.keys(CLIENTS)) {
        for (const way of ["http", "bridge"]) {
            const text = snippetOf(client, { ...given, way });
            assert.ok(text.includes("http://127.0.0.1:5080"), client);
            assert.ok(text.includes("qms_secret"), client);
            assert.ok(text.includes("projA"), client);
        }
    }
});

test("snippets for JSON files are JSON, each with the name that its client looks for", () => {
    const server = (client) => JSON.parse(snippetOf(client, { ...given, way: "http" }));

    assert.equal(server("cursor").mcpServers["quick-memory"].url, "http://127.0.0.1:5080/mcp/projA");
    assert.equal(server("vscode").servers["quick-memory"].type, "http");
    assert.equal(server("gemini").mcpServers["quick-memory"].httpUrl, "http://127.0.0.1:5080/mcp/projA");
    assert.equal(server("windsurf").mcpServers["quick-memory"].serverUrl, "http://127.0.0.1:5080/mcp/projA");
});

test("a client that takes no remote server gets the bridge, whatever is asked for", () => {
    const { mcpServers } = JSON.parse(snippetOf("claude-desktop", { ...given, way: "http" }));

    assert.deepEqual(mcpServers["quick-memory"].args, ["bridge", "--url", "http://127.0.0.1:5080", "--project", "projA"]);
});

test("without a key the snippet says where it goes", () => {
    assert.ok(snippetOf("codex", { ...given, key: "", way: "http" }).includes("qms_…"));
});
