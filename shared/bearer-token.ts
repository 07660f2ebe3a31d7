// Syntax of a bearer token (RFC 6750): one rule for requests and for the configuration.

const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;
export const LONGEST_TOKEN = 512;

export const isBearerToken = (text: string): boolean => text.length <= LONGEST_TOKEN && TOKEN.test(text);
