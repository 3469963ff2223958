// Runs an action on many entries, a few at a time.

const AT_ONCE = 4;

/** The most entries that one action takes. */
export const MOST_SELECTED = 5000;

/**
 * Run `change(id)` on every id and return `{ done, refused }`, the errors. `tell(done)` is called with the progress;
 * when it returns false, the rest is left.
 */
export async function changeEach(ids, change, tell = () => true) {
    const waiting = [...ids];
    const refused = [];
    let done = 0;
    let goesOn = true;
    const work = async () => {
        while (goesOn && waiting.length > 0) {
            const id = waiting.shift();
            try {
                await change(id);
                done += 1;
            } catch (error) {
                refused.push(error);
            }
            goesOn = goesOn && tell(done + refused.length) !== false;
        }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return { done, refused };
}

/** Return the ids of all pages, at most `most`; `page(cursor)` returns one of them. */
export async function collectIds(page, most = MOST_SELECTED) {
    const ids = [];
    let cursor;
    do {
        const { items, nextCursor } = await page(cursor);
        ids.push(...items.map(({ id }) => id));
        cursor = nextCursor ?? undefined;
    } while (cursor && ids.length < most);
    return ids.slice(0, most);
}
