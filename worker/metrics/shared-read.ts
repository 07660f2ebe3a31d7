// One read for all metrics of a scrape: they are collected side by side. Figures that cannot be read are left out, and the scrape has the others.
// A counter must then have no series: one that falls to 0 would count as a growth afterwards.
import { noteRead } from './unread.ts';

/** `metric` is the one that is being collected: whether it could be read is noted of it. */
export function sharedRead<T>(read: () => Promise<T>): (metric: object) => Promise<T | undefined> {
  let reading: Promise<{ readonly value: T } | undefined> | undefined;
  return async (metric) => {
    reading ??= read()
      .then((value) => ({ value }))
      .catch(() => undefined)
      .finally(() => {
        reading = undefined;
      });
    const known = await reading;
    noteRead(metric, known !== undefined);
    return known?.value;
  };
}
