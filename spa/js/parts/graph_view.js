// Draws a graph. Cytoscape is loaded with the first graph; a list beside it shows the same entries.

import { shortened } from "../entries.js";
import { degreesOf, toneOf } from "../graph_elements.js";
import { isDark } from "../theme.js";
import { html, useEffect, useRef, useState } from "../view.js";
import { Loading } from "./states.js";

const LIBRARY = "../../vendor/cytoscape-3.34.4.js";
const STYLE_ID = "__________cytoscape_stylesheet";
const LABELLED = 60;
const LABEL_PX = 12;
/** More than the letters have at zoom 1: the library rounds the zoom up to a power of two. */
const READABLE_PX = 11;
/** The most linked entries, which are named at any zoom. */
const HUBS = 12;
const LARGEST = 1.25;
const SMALLEST = .02;

export function GraphView({ nodes, edges, onOpen }) {
    const host = useRef(null);
    const [isReady, setReady] = useState(false);
    const dark = isDark.value;
    useEffect(() => {
        let drawing = null;
        let isOver = false;
        keepStyleOut();
        import(LIBRARY).then(({ default: cytoscape }) => {
            // The element is removed when the page is left; the cleanup runs after the next paint.
            if (!isOver && host.current) {
                drawing = draw(cytoscape, host.current, { nodes, edges });
                drawing.on("tap", "node", (event) => onOpen(event.target.id()));
                drawing.on("mouseover", "node", (event) => name(event.target));
                drawing.on("mouseout", "node", (event) => event.target.removeClass("named").removeStyle());
                setReady(true);
            }
        });
        return () => {
            isOver = true;
            drawing?.destroy();
        };
    }, [nodes.length, edges.length, dark]);
    return html`<div>
        ${!isReady && html`<${Loading} what="Loading the graph" />`}
        <div class="graph" ref=${host} role="img"
            aria-label=${`${nodes.length} entries and ${edges.length} links; the list shows the same`}></div>
    </div>`;
}

/** Keep the library from adding a style element, which the CSP forbids; its styles are in app.css. */
function keepStyleOut() {
    if (!document.getElementById(STYLE_ID)) {
        const mark = document.createElement("template");
        mark.id = STYLE_ID;
        document.head.append(mark);
    }
}

function draw(cytoscape, container, { nodes, edges }) {
    const style = getComputedStyle(container);
    const colour = (name) => style.getPropertyValue(name).trim();
    const degrees = degreesOf(edges);
    const hubs = new Set([...degrees].sort(([, one], [, other]) => other - one).slice(0, HUBS).map(([id]) => id));
    const drawing = cytoscape({
        container,
        elements: [
            ...nodes.map((node) => ({ data: {
                id: node.id, hops: node.hops, label: shortened(node.title, 24), title: shortened(node.title),
                tone: colour(`--kind-${toneOf(node.kind)}`), size: sizeFor(degrees.get(node.id) ?? 0),
                isHub: hubs.has(node.id),
            } })),
            ...edges.map((edge, at) => ({ data: {
                id: `edge-${at}`, source: edge.sourceId, target: edge.targetId, label: edge.type,
            } })),
        ],
        style: [
            { selector: "node", style: {
                "background-color": "data(tone)", color: colour("--ink"),
                // A label is drawn as soon as the zoom leaves room for readable letters.
                label: "data(label)", "min-zoomed-font-size": nodes.length <= LABELLED ? 0 : READABLE_PX,
                "font-size": 10, width: "data(size)", height: "data(size)", "text-valign": "bottom", "text-margin-y": 4,
            } },
            { selector: "node[?isHub]", style: { "min-zoomed-font-size": 0, "font-size": 12, "font-weight": "bold" } },
            { selector: "node[hops = 0]", style: {
                width: 26, height: 26, "font-weight": "bold", "text-valign": "top", "text-halign": "right",
                "text-margin-x": 4, "text-margin-y": -4,
            } },
            { selector: "node.named", style: {
                label: "data(title)", "z-index": 10, "text-background-color": colour("--raised"),
                "text-background-opacity": .95,
            } },
            { selector: "edge", style: {
                width: 1, "line-color": colour("--ink-soft"), "target-arrow-color": colour("--ink-soft"),
                "line-opacity": .55, "target-arrow-shape": "triangle", "arrow-scale": .7, "curve-style": "bezier",
                label: edges.length <= LABELLED ? "data(label)" : "", "font-size": 8, color: colour("--ink-soft"),
                "text-background-color": colour("--surface"), "text-background-opacity": 1,
                "text-background-padding": 2,
            } },
        ],
        layout: { ...layoutFor(nodes, edges), animate: false, padding: 30 },
        minZoom: SMALLEST,
        maxZoom: 4,
    });
    // A few entries would otherwise be scaled up to fill the whole area.
    drawing.zoom(Math.min(drawing.zoom(), LARGEST));
    drawing.center();
    return drawing;
}

/** Entries with many links are larger. */
function sizeFor(degree) {
    return Math.min(14 + 2 * degree, 34);
}

/** Show the title of the node under the pointer at a readable size, at any zoom. */
function name(node) {
    const size = LABEL_PX / node.cy().zoom();
    node.addClass("named").style({ "font-size": size, "text-margin-y": size / 3, "text-background-padding": size / 4 });
}

function layoutFor(nodes, edges) {
    if (edges.length === 0) {
        return { name: "grid" };
    }
    return nodes.some((node) => node.hops === 0)
        ? { name: "concentric", concentric: (node) => -node.data("hops"), levelWidth: () => 1,
            minNodeSpacing: nodes.length <= LABELLED ? 75 : 5 }
        : { name: "cose", randomize: false };
}
