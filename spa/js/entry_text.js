// The main text of an entry, and the line of it that a list shows.

const MAIN = {
    note: "text", fact: "statement", procedure: "steps", conversationTurn: "content",
    timelineEvent: "summary", codeSnippet: "snippet", decision: "decision", observation: "metric",
    question: "text", task: "summary", document: "text", chunk: "text", entity: "observations",
};
const LINE_CHARACTERS = 240;
const READ_CHARACTERS = 2000;

/** Return the name of the main field in the body of a kind. */
export function mainFieldOf(kind) {
    return MAIN[kind];
}

/** Return the beginning of an entry's text as one line; empty when the title says it already. */
export function lineOf({ kind, title, body }) {
    const value = typeof body === "string" ? body : body?.[MAIN[kind]];
    const text = Array.isArray(value) ? value.slice(0, 20).join(" · ") : String(value ?? "");
    const line = text.slice(0, READ_CHARACTERS).replace(/\s+/g, " ").trim();
    const said = title.replace(/…$/, "").trim();
    const rest = line.startsWith(said) ? line.slice(said.length).trim() : line;
    // A cut title goes on in its text; a whole one stands before it.
    const shown = rest === "" || line === said ? "" : title.endsWith("…") ? `…${rest}` : line;
    return shown.length > LINE_CHARACTERS ? `${shown.slice(0, LINE_CHARACTERS - 1)}…` : shown;
}
