// Headers that every answer carries, as constants: the API and the chat page differ in their content policy alone.
// `Strict-Transport-Security` belongs to the TLS edge; no header names the server or its version.

/** Of every answer, whoever wrote it: lower-case names that a plugin or a platform's adapter does not set. */
export const OURS: ReadonlySet<string> = new Set([
  'x-content-type-options',
  'referrer-policy',
  'cross-origin-resource-policy',
  'content-security-policy',
]);

const COMMON = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const;

/** For everything that is not a page: nothing may load, frame or run it. */
export const API_HEADERS: Readonly<Record<string, string>> = {
  ...COMMON,
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; object-src 'none'",
  'Cache-Control': 'no-store',
};

/** For the chat page and its files: own scripts, styles and connections, nothing inline, nothing from elsewhere. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  ...COMMON,
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
};
