// What a change of a stored item, and a page of them, may hold: over HTTP and at the file.

export const MOST_REASON_CHARACTERS = 500;
export const MOST_PAGE_ITEMS = 200;
