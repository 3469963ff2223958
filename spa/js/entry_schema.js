// Form fields and validation of entries, from the server's JSON Schema.

import { count, words as named } from "./formatting.js";

const words = (name) => named(name).toLowerCase();

/** Fields with long texts: they get a multi-line input. */
const LONG = new Set([
    "text", "statement", "content", "summary", "snippet", "decision", "justification", "rationale",
    "context", "explanation", "impact",
]);

/** Return the kinds of entry, in the order of the schema. */
export function kindsOf(schema) {
    return resolve(schema, resolve(schema, schema).properties.kind).enum;
}

/** Return the schema of a kind's body. */
export function bodySchemaOf(schema, kind) {
    const found = schema.allOf.find((one) => one.if.properties.kind.const === kind);
    return found ? resolve(schema, found.then.properties.body) : { properties: {}, required: [] };
}

/** Return the fields of a kind's body: `{ name, type, isRequired, isLong }`, the main one first. */
export function bodyFieldsOf(schema, kind) {
    const { properties, required = [] } = bodySchemaOf(schema, kind);
    return Object.entries(properties).map(([name, field]) => ({
        name,
        type: typeOf(schema, field),
        isRequired: required.includes(name),
        isLong: LONG.has(name),
    }));
}

/** Return one of text, lines, number, integer, date, yesNo, value, json for a field's schema. */
export function typeOf(schema, field) {
    const kinds = (field.anyOf ?? [field]).map((one) => resolve(schema, one)).filter((one) => one.type !== "null");
    if (kinds.length !== 1) {
        return "value";
    }
    const [only] = kinds;
    switch (only.type) {
        case "string": return only.format === "date-time" ? "date" : "text";
        case "array": return resolve(schema, only.items ?? {}).type === "string" ? "lines" : "json";
        case "integer": case "number": return only.type;
        case "boolean": return "yesNo";
        default: return "json";
    }
}

/** Return what is wrong with an entry: `[{ path, message }]`, a path being a list of keys. */
export function faultsOf(schema, entry) {
    const written = { ...resolve(schema, schema), required: ["kind", "body"] };
    const faults = [];
    check(schema, written, entry, [], faults);
    if (isObject(entry) && isObject(entry.body)) {
        check(schema, bodySchemaOf(schema, entry.kind), entry.body, ["body"], faults);
    }
    return faults;
}

/** Return what the server says about a field, a limit in words: `At most 50 tags; this has 60.` */
export function limitInWords({ message, details: { field, maximum } }) {
    const over = message.match(/(\d+)( bytes)?( are| is)? over the limit (\w+) of /);
    if (over && maximum !== undefined) {
        const unit = over[2] ? "bytes, about as many letters" : words(over[4]);
        return `At most ${count(maximum)} ${unit}; this has ${count(Number(over[1]))}.`;
    }
    const said = message.startsWith(`${field}: `) ? message.slice(field.length + 2) : message;
    return said.charAt(0).toUpperCase() + said.slice(1);
}

/** Return a field path of the server, such as `relations[0].type`, as a list of keys. */
export function pathOfField(field) {
    return field.split(/[.[\]]+/).filter(Boolean);
}

function check(schema, given, value, path, faults) {
    const rule = resolve(schema, given);
    if (rule.anyOf) {
        if (rule.anyOf.every((one) => isWrong(schema, one, value))) {
            check(schema, rule.anyOf.find((one) => one.type !== "null") ?? {}, value, path, faults);
        }
        return;
    }
    const message = faultOf(rule, value);
    if (message) {
        faults.push({ path, message });
    } else if (isObject(value)) {
        checkObject(schema, rule, value, path, faults);
    } else if (Array.isArray(value) && rule.items) {
        value.forEach((one, at) => check(schema, rule.items, one, [...path, String(at)], faults));
    }
}

function checkObject(schema, rule, value, path, faults) {
    for (const name of rule.required ?? []) {
        if (value[name] === undefined) {
            faults.push({ path: [...path, name], message: "is required" });
        }
    }
    for (const [name, field] of Object.entries(rule.properties ?? {})) {
        if (value[name] !== undefined) {
            check(schema, field, value[name], [...path, name], faults);
        }
    }
}

function isWrong(schema, rule, value) {
    const faults = [];
    check(schema, rule, value, [], faults);
    return faults.length > 0;
}

function faultOf(rule, value) {
    if (rule.enum && !rule.enum.includes(value)) {
        return `must be one of ${rule.enum.join(", ")}`;
    }
    if (rule.type && !isOfType(rule.type, value)) {
        return `must be ${article(rule.type)}`;
    }
    if (rule.minimum !== undefined && value < rule.minimum) {
        return `must be at least ${rule.minimum}`;
    }
    if (rule.maximum !== undefined && value > rule.maximum) {
        return `must be at most ${rule.maximum}`;
    }
    if (rule.format === "date-time" && Number.isNaN(Date.parse(value))) {
        return "must be a date and time such as 2026-03-01T12:00:00Z";
    }
    return null;
}

function isOfType(type, value) {
    switch (type) {
        case "object": return isObject(value);
        case "array": return Array.isArray(value);
        case "integer": return Number.isInteger(value);
        case "number": return typeof value === "number";
        case "null": return value === null;
        default: return typeof value === type;
    }
}

function article(type) {
    return { object: "an object", array: "a list", integer: "a whole number" }[type] ?? `a ${type}`;
}

function isObject(value) {
    return typeof value === "object" && value !== null && !Array.isArray(value);
}

function resolve(schema, rule) {
    return rule.$ref ? schema.$defs[rule.$ref.split("/").at(-1)] : rule;
}
