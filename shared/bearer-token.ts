// What may stand behind `Bearer` (RFC 6750): the one rule for what is taken over HTTP and for what may be configured.

const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;
export const LONGEST_TOKEN = 512;

export const isBearerToken = (text: string): boolean => text.length <= LONGEST_TOKEN && TOKEN.test(text);
