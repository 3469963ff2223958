// Calls the server; no other module does.

const MCP_REVISION = "2026-07-28";
const MCP_META = "io.modelcontextprotocol/";

/** An error answer of the server, or a failed connection. */
export class ApiError extends Error {
    constructor(status, { code, message, details }) {
        super(message);
        this.status = status;
        this.code = code;
        this.details = details ?? {};
    }
}

let csrfToken = null;
let isUnattended = false;
let wasTouched = true;
let onSessionEnd = () => {};

for (const sign of ["pointerdown", "keydown", "wheel", "touchmove"]) {
    globalThis.addEventListener?.(sign, () => {
        wasTouched = true;
    }, { capture: true, passive: true });
}

/** Run `action`, a request of a timer: without user input since the last one it does not extend the session. */
export function ask(action) {
    isUnattended = !wasTouched;
    wasTouched = false;
    try {
        action();
    } finally {
        isUnattended = false;
    }
}

/** Set the CSRF token that every change of this session carries. */
export function carryToken(token) {
    csrfToken = token;
}

/** Call `handler` when the server no longer knows the session. */
export function whenSessionEnds(handler) {
    onSessionEnd = handler;
}

/** Run a command of a project and return its response. */
export function command(project, name, request = {}) {
    return send("POST", `/api/v1/${encodeURIComponent(project)}/${name}`, { body: request });
}

/** Call an administration route and return its answer. */
export function admin(method, path, { query, body } = {}) {
    return send(method, `/admin/${path}${queryText(query)}`, { body });
}

/** Return a public document, parsed when it is JSON. */
export function publicDocument(path) {
    return send("GET", path, {});
}

/** Call a project over MCP with a key, like a client; the session is not valid there. */
export async function askAsClient(project, key, method) {
    const meta = { [`${MCP_META}protocolVersion`]: MCP_REVISION, [`${MCP_META}clientCapabilities`]: {} };
    const response = await reach(`/mcp/${encodeURIComponent(project)}`, {
        method: "POST",
        headers: {
            "Content-Type": "application/json",
            Accept: "application/json, text/event-stream",
            Authorization: `Bearer ${key}`,
            "MCP-Protocol-Version": MCP_REVISION,
            "Mcp-Method": method,
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { _meta: meta } }),
        credentials: "omit",
    });
    const answer = await response.json().catch(() => ({}));
    if (!answer.result) {
        throw new ApiError(response.status, {
            code: "internal",
            message: answer.error?.message ?? `The server answered with status ${response.status}.`,
        });
    }
    return answer.result;
}

/** Return a path of several parts, each one URL-encoded. */
export function pathOf(...parts) {
    return parts.map(encodeURIComponent).join("/");
}

function queryText(query) {
    const given = Object.entries(query ?? {}).filter(([, value]) => value != null && value !== "");
    return given.length ? `?${new URLSearchParams(given)}` : "";
}

async function send(method, address, { body }) {
    const headers = {};
    if (body !== undefined) {
        headers["Content-Type"] = "application/json";
    }
    if (method !== "GET" && csrfToken !== null) {
        headers["X-CSRF-Token"] = csrfToken;
    }
    if (isUnattended) {
        headers["X-Unattended"] = "1";
    }
    return read(await reach(address, {
        method,
        headers,
        body: body === undefined ? undefined : JSON.stringify(body),
        credentials: "same-origin",
    }));
}

async function reach(address, options) {
    try {
        return await fetch(address, options);
    } catch {
        throw new ApiError(0, {
            code: "unreachable",
            message: "Cannot reach the server. Check that it is running, then try again.",
        });
    }
}

async function read(response) {
    const isJson = (response.headers.get("content-type") ?? "").includes("json");
    const content = isJson ? await response.json().catch(() => null) : await response.text();
    if (response.ok) {
        return content;
    }
    const error = new ApiError(response.status, content?.error ?? {
        code: "internal",
        message: `The server answered with status ${response.status}.`,
    });
    if (response.status === 401) {
        onSessionEnd(error);
    }
    throw error;
}
