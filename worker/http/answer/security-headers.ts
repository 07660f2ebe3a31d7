// Headers of every answer, as constants. The API and the chat page differ in their content policy only.
// The TLS proxy sets `Strict-Transport-Security`. No header names the server or its version.

/** Security headers, in lower case, that a plugin or an adapter cannot override. */
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

/** For everything but the page: a browser may load, frame or run nothing of it. */
export const API_HEADERS: Readonly<Record<string, string>> = {
  ...COMMON,
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; object-src 'none'",
  'Cache-Control': 'no-store',
};

/** For the chat page and its files: own scripts, styles and connections, nothing inline and nothing from other origins. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  ...COMMON,
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
};
