// Ports that no browser opens, and fetch of Node neither: "bad port". Fetch Standard, 2.9 "Port blocking", without those below 1024 that
// nobody but root may bind and the 0 that means any.
const BLOCKED: ReadonlySet<number> = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

/** Whether browsers refuse to ask at this port, whoever listens there. */
export const isBlockedPort = (port: number): boolean => BLOCKED.has(port);
