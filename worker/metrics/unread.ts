// Which metrics could not be read when they were collected last. A scrape leaves their series out, as it does those of a feature that the host
// does not have. Alerts have to tell the two apart: what is not there is calm, what cannot be read is unknown.

const unread = new WeakSet<object>();

export function noteRead(metric: object, isRead: boolean): void {
  if (isRead) unread.delete(metric);
  else unread.add(metric);
}

export const isUnread = (metric: object): boolean => unread.has(metric);
