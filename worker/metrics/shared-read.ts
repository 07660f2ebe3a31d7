// One read for all metrics of a scrape: they are collected side by side. Figures that cannot be read are left out, and the scrape has the others.
// A counter must then have no series: one that falls to 0 would count as a growth afterwards.
export function sharedRead<T>(read: () => Promise<T>): () => Promise<T | undefined> {
  let reading: Promise<T | undefined> | undefined;
  return () => {
    reading ??= read()
      .catch(() => undefined)
      .finally(() => {
        reading = undefined;
      });
    return reading;
  };
}
