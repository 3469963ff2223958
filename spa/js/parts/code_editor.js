// An editor for JSON and TOML. CodeMirror is loaded with the first editor, into a shadow root: only there the page's
// CSP lets it add its styles.

import { html, useEffect, useRef, useState } from "../view.js";
import { Loading } from "./states.js";

const LIBRARY = "../../vendor/codemirror-6.0.2.js";

/** Edit `text`; `faults`, `[{ from, to, message }]`, are shown at their positions. */
export function CodeEditor({ text, language, label, faults = [], onInput, height = "24rem" }) {
    const host = useRef(null);
    const view = useRef(null);
    const library = useRef(null);
    // Typed texts that have not come back as `text` yet: by then more may have been typed.
    const typed = useRef([]);
    const notify = useRef(null);
    notify.current = (written) => {
        typed.current.push(written);
        onInput(written);
    };
    const [isReady, setReady] = useState(false);
    useEffect(() => {
        let isOver = false;
        import(LIBRARY).then((found) => {
            // The element is removed when the page is left; the cleanup runs after the next paint.
            if (!isOver && host.current) {
                library.current = found;
                view.current = makeView(found, host.current, { text, language, label, height }, notify);
                // A scrollable area must be reachable by keyboard, also when it is read-only.
                view.current.scrollDOM.tabIndex = 0;
                setReady(true);
            }
        });
        return () => {
            isOver = true;
            view.current?.destroy();
        };
    }, []);
    useEffect(() => {
        const editor = view.current;
        const echo = typed.current.lastIndexOf(text);
        if (echo >= 0) {
            typed.current = typed.current.slice(echo + 1);
        } else if (editor && editor.state.doc.toString() !== text) {
            editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } });
            typed.current = [];
        }
    }, [text]);
    useEffect(() => {
        if (isReady) {
            const { state } = view.current;
            const shown = faults.map((fault) => bounded(fault, state.doc.length));
            view.current.dispatch(library.current.setDiagnostics(state, shown));
        }
    }, [faults, isReady]);
    return html`<div>
        ${!isReady && html`<${Loading} what="Loading the editor" />`}
        <div class="editor" ref=${host} hidden=${!isReady}></div>
    </div>`;
}

function bounded({ from, to, message }, length) {
    const start = Math.min(from, length);
    return { from: start, to: Math.max(start, Math.min(to, length)), message, severity: "error" };
}

function makeView(cm, host, { text, language, label, height }, notify) {
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    const grammar = language === "toml" ? cm.StreamLanguage.define(cm.toml) : cm.json();
    const tell = cm.EditorView.updateListener.of((update) => {
        if (update.docChanged) {
            notify.current(update.state.doc.toString());
        }
    });
    return new cm.EditorView({
        root,
        parent: root,
        doc: text,
        extensions: [
            cm.lineNumbers(), cm.history(), cm.bracketMatching(), cm.lintGutter(), cm.highlightActiveLine(),
            cm.keymap.of([...cm.defaultKeymap, ...cm.historyKeymap]),
            cm.EditorView.lineWrapping,
            cm.EditorView.contentAttributes.of({ "aria-label": label }),
            grammar, cm.syntaxHighlighting(colours(cm)), look(cm, height), tell,
        ],
    });
}

function look(cm, height) {
    return cm.EditorView.theme({
        "&": { maxHeight: height, fontSize: "13px", color: "var(--ink)", backgroundColor: "var(--surface)" },
        "&.cm-focused": { outline: "none" },
        ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55", overflow: "auto" },
        ".cm-content": { caretColor: "var(--ink)", padding: "10px 0" },
        ".cm-gutters": { backgroundColor: "var(--sunken)", color: "var(--ink-soft)", border: "none" },
        ".cm-activeLine, .cm-activeLineGutter": {
            backgroundColor: "color-mix(in srgb, var(--accent) 7%, transparent)",
        },
        ".cm-cursor": { borderLeftColor: "var(--ink)" },
        "&.cm-focused .cm-selectionBackground, ::selection": { backgroundColor: "var(--accent-soft)" },
        ".cm-tooltip": { backgroundColor: "var(--raised)", color: "var(--ink)", border: "1px solid var(--line)" },
    });
}

function colours(cm) {
    const { tags } = cm;
    return cm.HighlightStyle.define([
        { tag: [tags.propertyName, tags.definition(tags.propertyName), tags.atom], color: "var(--accent-strong)" },
        { tag: [tags.string, tags.special(tags.string)], color: "var(--good)" },
        { tag: [tags.number, tags.bool, tags.null], color: "var(--canonical)" },
        { tag: tags.comment, color: "var(--ink-soft)", fontStyle: "italic" },
        { tag: [tags.heading, tags.bracket], color: "var(--ink)" },
    ]);
}
