// A chart of the last hour, drawn by uPlot, which is loaded with the first chart.

import { isDark } from "../theme.js";
import { html, useEffect, useRef } from "../view.js";

const LIBRARY = "../../vendor/uplot-1.6.32.js";
const STYLE = "/static/vendor/uplot-1.6.32.css";

/**
 * Draw `series`, `[{ name, tone, isFilled }]`, over `data`, `[[seconds], [values]…]`. A tone is `accent`, `second`, or
 * `bad` for failures alone.
 */
export function Chart({ label, series, data, format }) {
    const place = useRef(null);
    const plot = useRef(null);
    const latest = useRef(data);
    latest.current = data;
    const dark = isDark.value;
    useEffect(() => {
        const element = place.current;
        let isOver = false;
        const follow = new ResizeObserver(() => plot.current?.setSize(sizeOf(element)));
        import(LIBRARY).then(({ default: UPlot }) => {
            if (!isOver) {
                plot.current = new UPlot(optionsFor(element, series, format), latest.current, element);
                follow.observe(element);
            }
        });
        addStyleOnce();
        return () => {
            isOver = true;
            follow.disconnect();
            plot.current?.destroy();
            plot.current = null;
        };
    }, [dark]);
    useEffect(() => plot.current?.setData(data), [data]);
    return html`<div>
        <div class="chart" ref=${place} role="img" aria-label=${label}></div>
        <div class="chart-legend">
            ${series.map(({ name, tone }) => html`<span key=${name}><i class=${`tone-${tone}`}></i>${name}</span>`)}
        </div>
    </div>`;
}

function optionsFor(element, series, format) {
    const style = getComputedStyle(element);
    const colour = (name) => style.getPropertyValue(name).trim();
    const axis = {
        stroke: colour("--ink-soft"),
        font: "11px system-ui",
        grid: { stroke: colour("--line"), width: 1 },
        ticks: { show: false },
    };
    return {
        ...sizeOf(element),
        legend: { show: false },
        cursor: { y: false },
        padding: [8, 8, 0, 0],
        axes: [
            { ...axis, grid: { show: false }, space: 70, values: (_plot, splits) => splits.map(clock) },
            { ...axis, size: 52, values: (_plot, values) => values.map(format) },
        ],
        scales: { y: { range: (_plot, _low, high) => [0, Math.max(high * 1.15, 1)] } },
        series: [{}, ...series.map(({ isFilled, tone }) => ({
            stroke: colour(`--${tone}`),
            width: 1.75,
            points: { show: false },
            fill: isFilled ? `${colour(`--${tone}`)}22` : undefined,
        }))],
    };
}

function clock(seconds) {
    const date = new Date(seconds * 1000);
    const exactly = seconds % 60 ? { second: "2-digit" } : {};
    const options = { hour: "2-digit", minute: "2-digit", hourCycle: "h23", ...exactly };
    return date.toLocaleTimeString(undefined, options);
}

function sizeOf(element) {
    return { width: element.clientWidth, height: element.clientHeight };
}

function addStyleOnce() {
    if (!document.querySelector(`link[href="${STYLE}"]`)) {
        const link = document.createElement("link");
        link.rel = "stylesheet";
        link.href = STYLE;
        document.head.append(link);
    }
}
