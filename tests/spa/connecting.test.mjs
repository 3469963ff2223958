import assert from "node:assert/strict";
import test from "node:test";

import { CLIENTS, installLink, snippetOf, TOOLSETS } from "../../spa/js/connecting.js";

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

test("an install link carries the settings of the snippet", () => {
    const given = { way: "http", origin: "http://127.0.0.1:5080", project: "a b", key: "qms_k" };
    const cursor = new URL(installLink("cursor", given));
    const settings = JSON.parse(atob(cursor.searchParams.get("config")));
    assert.equal(cursor.protocol, "cursor:");
    assert.deepEqual(settings, JSON.parse(snippetOf("cursor", given)).mcpServers["quick-memory"]);

    const [scheme, query] = installLink("vscode", given).split("?");
    const named = JSON.parse(decodeURIComponent(query));
    assert.equal(scheme, "vscode:mcp/install");
    assert.equal(named.name, "quick-memory");
    assert.equal(named.url, "http://127.0.0.1:5080/mcp/a%20b");
    assert.equal(named.headers.Authorization, "Bearer qms_k");
});

test("clients without install links get none", () => {
    const given = { way: "bridge", origin: "http://127.0.0.1:5080", project: "p", key: "" };
    const linked = Object.keys(CLIENTS).filter((client) => installLink(client, given));
    assert.deepEqual(linked, ["cursor", "vscode"]);
});

test("lite is offered first, and the chosen toolset is in the address and in the arguments", () => {
    assert.equal(TOOLSETS[0][0], "lite");

    const http = JSON.parse(snippetOf("cursor", { ...given, way: "http", toolsets: "lite" }));
    const bridge = JSON.parse(snippetOf("claude-desktop", { ...given, way: "bridge", toolsets: "lite" }));

    assert.equal(http.mcpServers["quick-memory"].url, "http://127.0.0.1:5080/mcp/projA?toolsets=lite");
    assert.deepEqual(bridge.mcpServers["quick-memory"].args.slice(-2), ["--toolsets", "lite"]);
    const command = snippetOf("claude-code", { ...given, way: "http", toolsets: "lite" });
    assert.ok(command.includes('"http://127.0.0.1:5080/mcp/projA?toolsets=lite"'));
});
