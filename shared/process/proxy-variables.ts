// Variables that name a proxy for outgoing requests. svc connects to platforms directly, so an owner who set one is told.

const NAMES = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY'];

/** The variables that are set, in capital or small letters. Their values may hold a password. */
export const proxyVariables = (env: Readonly<Record<string, string | undefined>>): readonly string[] =>
  NAMES.flatMap((name) => [name, name.toLowerCase()]).filter((name) => (env[name] ?? '') !== '');

const UNREACHED =
  /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|UND_ERR_CONNECT_TIMEOUT|Connect Timeout Error/;

/** The reason why a connection failed, with the variable that an owner may have counted on. */
export function withProxyNote(reason: string, env: Readonly<Record<string, string | undefined>>): string {
  const [name] = proxyVariables(env);
  return name === undefined || !UNREACHED.test(reason) ? reason : `${reason} (${name} is set, but svc uses no proxy)`;
}
