// Ports that browsers and Node's fetch refuse ("bad port"): Fetch Standard, 2.9 "Port blocking".
// Port 0 and ports below 1024, which only root may bind, are left out.
const BLOCKED: ReadonlySet<number> = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

/** Whether browsers refuse this port, whatever listens on it. */
export const isBlockedPort = (port: number): boolean => BLOCKED.has(port);
