// Limits for a change of a stored item and for a page of items. They hold over HTTP and in the database file.

export const MOST_REASON_CHARACTERS = 500;
export const MOST_PAGE_ITEMS = 200;
