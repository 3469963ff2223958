// Small components that many pages use.

import { ago, moment, words } from "../formatting.js";
import { html, useEffect, useId, useState } from "../view.js";
import { Icon, kindIcon } from "./icon.js";

const TYPING_MS = 250;
const TIER_TONES = { canonical: "canonical", curated: "good", provisional: "" };
const ACCESS_TONES = { admin: "accent", curator: "good" };

export function PageHead({ title, about, children }) {
    useEffect(() => {
        document.title = `${title} · Quick Memory Server`;
    }, [title]);
    return html`<header class="page-head">
        <div class="page-head-text">
            <h1>${title}</h1>
            ${about && html`<p>${about}</p>`}
        </div>
        <div class="actions">${children}</div>
    </header>`;
}

export function Card({ title, actions, isFlush, children }) {
    return html`<section class="card-box">
        ${title && html`<div class="card-head"><h2>${title}</h2>${actions}</div>`}
        ${isFlush ? children : html`<div class="card-in">${children}</div>`}
    </section>`;
}

export function Time({ utc }) {
    return utc
        ? html`<time dateTime=${utc} title=${moment(utc)}>${ago(utc)}</time>`
        : html`<span class="text-soft">never</span>`;
}

export function CurationChip({ tier = "provisional" }) {
    return html`<span class=${`chip ${TIER_TONES[tier] ?? ""}`}>${tier}</span>`;
}

export function AccessChip({ tier }) {
    return html`<span class=${`chip ${ACCESS_TONES[tier] ?? ""}`}>${tier}</span>`;
}

export function Kind({ kind }) {
    return html`<span class="kind"><${Icon} name=${kindIcon(kind)} />${words(kind)}</span>`;
}

/** Copy a text; the result is shown beside the button, since a dialog would cover a toast. */
export function CopyButton({ text, label = "Copy", isSmall = true, onCopied }) {
    const [outcome, setOutcome] = useState("");
    useEffect(() => setOutcome(""), [text]);
    const copy = async () => {
        try {
            await navigator.clipboard.writeText(text);
            setOutcome("Copied.");
            onCopied?.();
        } catch {
            setOutcome("The browser denied access to the clipboard: select the text and copy it.");
        }
    };
    return html`<span class="actions">
        <button type="button" class=${`btn btn-quiet ${isSmall ? "btn-sm" : ""}`} onClick=${copy}>
            <${Icon} name="clipboard" /><span>${label}</span></button>
        <span class="small text-soft" role="status">${outcome}</span>
    </span>`;
}

/** A labelled field; `children(attributes)` renders the control, `error` is shown below it. */
export function Field({ label, hint, error, isWide, children }) {
    const id = useId();
    const noteId = `${id}-note`;
    const attributes = {
        id,
        "aria-describedby": hint || error ? noteId : undefined,
        "aria-invalid": error ? "true" : undefined,
    };
    return html`<div class=${isWide ? "wide" : ""}>
        <label class="form-label" for=${id}>${label}</label>
        ${children(attributes)}
        <div id=${noteId}>
            ${error && html`<div class="field-error">${error}</div>`}
            ${hint && html`<div class="form-text">${hint}</div>`}
        </div>
    </div>`;
}

export function Select({ label, value, options, onPick, isSmall, ...rest }) {
    return html`<select class=${`form-select ${isSmall ? "form-select-sm" : ""}`} aria-label=${label}
        value=${value} onChange=${(event) => onPick(event.target.value)} ...${rest}>
        ${options.map(([key, text]) => html`<option value=${key} selected=${key === value}>${text}</option>`)}
    </select>`;
}

export function Check({ label, hint, value, onChange }) {
    const id = useId();
    return html`<div>
        <label class="form-check">
            <input class="form-check-input" type="checkbox" checked=${value} aria-describedby=${hint && id}
                onChange=${(event) => onChange(event.target.checked)} />
            <span class="form-check-label">${label}</span>
        </label>
        ${hint && html`<div id=${id} class="form-text check-hint">${hint}</div>`}
    </div>`;
}

/** A text filter; it applies shortly after the last key press. */
export function TextFilter({ label, value = "", onPick }) {
    const [text, setText] = useState(value);
    useEffect(() => setText(value), [value]);
    useEffect(() => {
        const timer = text.trim() !== value && setTimeout(() => onPick(text.trim()), TYPING_MS);
        return () => clearTimeout(timer);
    }, [text]);
    return html`<input class="form-control form-control-sm" type="search" aria-label=${label} placeholder=${label}
        value=${text} onInput=${(event) => setText(event.target.value)} />`;
}

/** A list of tags as chips; Enter or a comma adds one. */
export function TagField({ values, onChange, label, ...attributes }) {
    const [typed, setTyped] = useState("");
    const add = () => {
        const tags = typed.split(",").map((tag) => tag.trim()).filter(Boolean);
        if (tags.length) {
            onChange([...new Set([...values, ...tags])]);
        }
        setTyped("");
    };
    const onKeyDown = (event) => {
        if (event.key === "Enter" || event.key === ",") {
            event.preventDefault();
            add();
        } else if (event.key === "Backspace" && typed === "" && values.length) {
            onChange(values.slice(0, -1));
        }
    };
    return html`<div class="form-control tag-field">
        ${values.map((tag) => html`<span class="chip" key=${tag}>${tag}
            <button type="button" aria-label=${`Remove ${tag}`}
                onClick=${() => onChange(values.filter((one) => one !== tag))}>✕</button>
        </span>`)}
        <input ...${attributes} aria-label=${label} value=${typed} placeholder="Add…"
            onInput=${(event) => setTyped(event.target.value)} onKeyDown=${onKeyDown} onBlur=${add} />
    </div>`;
}
