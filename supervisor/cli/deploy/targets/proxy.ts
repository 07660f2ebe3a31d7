// `svc deploy init proxy --kind … --host …`: the TLS edge in front of the host. The proxy runs on the host's machine.
//
//   PROXY-1  No text of the command line or of the configuration reaches the file unless it is a DNS name, a base path or an address.
import { BlockList, isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { readReferences } from '../../../../shared/config/references.ts';
import { CONFIG_FILE } from '../../../../shared/files/paths.ts';
import { isEveryAddress } from '../../../../shared/ip-address.ts';
import { SvcError } from '../../../../shared/svc-error.ts';
import { textOption, wordOption } from '../../options.ts';
import { fill } from '../../service/render.ts';
import { DEPLOY_PORT, type DeployProject, refused } from '../project.ts';
import type { DeployTarget } from '../target.ts';
import { template, withHead } from '../template.ts';

interface Kind {
  /** Of the template, below `deploy/`. */
  readonly path: string;
  /** Commands between the written file and the running proxy. */
  readonly commands: (file: string, name: string) => readonly string[];
  readonly certificate: (host: string) => string;
}

const KINDS = {
  caddy: {
    path: 'proxy/Caddyfile',
    commands: (file) => [
      `sudo cp --backup=numbered ${file} /etc/caddy/Caddyfile`,
      'sudo caddy validate --config /etc/caddy/Caddyfile',
      'sudo systemctl reload caddy',
    ],
    certificate: (host) =>
      `Caddy gets the certificate by itself: ${host} has to lead to this machine, ports 80 and 443 open`,
  },
  nginx: {
    path: 'proxy/nginx.conf',
    commands: (file, name) => [
      `sudo cp ${file} /etc/nginx/conf.d/${name}.conf`,
      'sudo nginx -t',
      'sudo systemctl reload nginx',
    ],
    certificate: (host) => `get the certificate first: /etc/letsencrypt/live/${host}/fullchain.pem and privkey.pem`,
  },
  haproxy: {
    path: 'proxy/haproxy.cfg',
    commands: (file) => [
      `sudo cp --backup=numbered ${file} /etc/haproxy/haproxy.cfg`,
      'sudo haproxy -c -f /etc/haproxy/haproxy.cfg',
      'sudo systemctl reload haproxy',
    ],
    certificate: (host) => `get the certificate first, chain and key in one file: /etc/haproxy/certs/${host}.pem`,
  },
} as const satisfies Record<string, Kind>;
export const PROXY_KINDS = Object.keys(KINDS) as readonly (keyof typeof KINDS)[];

/** Seconds of the last command: over two heartbeats of the event stream. */
const IDLE_SECONDS = 40;

export const target: DeployTarget = {
  name: 'proxy',
  summary: 'TLS in front of the host: caddy, nginx or haproxy',
  options: ['kind', 'host'],
  plan({ project, options }) {
    const word = wordOption(options, 'kind', PROXY_KINDS);
    if (word === undefined)
      throw new SvcError('usage', '--kind is missing', { hint: `--kind ${PROXY_KINDS.join('|')}` });
    const kind: Kind = KINDS[word];
    const host = hostName(textOption(options, 'host'));
    const base = basePath(project);
    const open = `${plainly(base)}/(webhooks|files|pub)/${base === '' ? '' : '|/pub/'}`;
    const text = fill(template(kind.path), {
      HOST: host,
      NAME: project.name,
      VARIABLE: `svc_${project.name.replaceAll('-', '_')}`,
      BASE: base,
      OPEN: open,
      UPSTREAM: upstream(project),
    });
    const file = `deploy/${kind.path}`;
    return {
      files: [{ path: file, text: withHead(kind.path, text), mode: 0o644 }],
      notes: [trustNote(project), urlNote(project, host), kind.certificate(host)],
      next: [
        ...kind.commands(file, project.name),
        `npx svc doctor --edge https://${host}${base} --idle ${IDLE_SECONDS}`,
      ],
    };
  },
};

const LONGEST_NAME = 253;
const DNS_NAME = /^(?!.*\.\d+$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/u;

/** In ASCII and lower case. Throws `usage` for anything that is no DNS name: an address, a URL, a port, a wildcard. */
function hostName(text: string | undefined): string {
  if (text === undefined)
    throw new SvcError('usage', '--host is missing: the name under which people reach the bot', {
      hint: '--host bot.example',
    });
  const name = /^[^\s/:@?#%\\[\]]+$/u.test(text) ? domainToASCII(text.toLowerCase()) : '';
  if (name.length <= LONGEST_NAME && DNS_NAME.test(name)) return name;
  throw new SvcError('usage', `--host takes a DNS name, not ${JSON.stringify(text.slice(0, LONGEST_NAME))}`, {
    hint: 'only the name, without https://, port and path: --host bot.example',
  });
}

/** Of `http.base`. Throws `refused` where it is not known before the start. */
function basePath(project: DeployProject): string {
  const base = settled(project, 'base') ?? '';
  if (/^(\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$/u.test(base)) return base;
  throw refused(`http.base in ${CONFIG_FILE} is no path that can be written: ${JSON.stringify(base)}`, 'base: /bots');
}

/** Address of the host as the proxy reaches it. An address that stands for all is reached on loopback. */
function upstream(project: DeployProject): string {
  const host = settled(project, 'host') ?? '127.0.0.1';
  const port = settled(project, 'port') ?? String(DEPLOY_PORT);
  if (isIP(host) === 0)
    throw refused(`http.host in ${CONFIG_FILE} is no IP address: ${JSON.stringify(host)}`, 'host: 127.0.0.1');
  if (!/^[1-9]\d{0,4}$/u.test(port))
    throw refused(`http.port in ${CONFIG_FILE} is no port: ${JSON.stringify(port)}`, `port: ${DEPLOY_PORT}`);
  if (isEveryAddress(host)) return `127.0.0.1:${port}`;
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
}

/** A value of `http` as a host without further variables reads it: itself, or the default of its reference. */
function settled({ raw }: DeployProject, key: string): string | undefined {
  const value = raw(['http', key]);
  if (value === undefined || value === null || value === '') return undefined;
  const text = readReferences(String(value));
  if (text.kind === 'plain') return text.text;
  if (text.kind === 'template' && text.parts.every((part) => typeof part === 'string' || part.fallback !== undefined))
    return text.parts.map((part) => (typeof part === 'string' ? part : part.fallback)).join('');
  throw refused(
    `http.${key} in ${CONFIG_FILE} is known at the start alone: ${String(value)}`,
    `give its reference a default, like \${NAME:-value}`,
  );
}

function trustNote(project: DeployProject): string {
  const listed = project.raw(['http', 'trustedProxies']);
  const entries = Array.isArray(listed) ? listed.map(String) : [];
  const proxy = upstream(project).startsWith('[') ? '::1' : '127.0.0.1';
  return entries.some((entry) => holds(entry, proxy))
    ? `http.trustedProxies holds ${proxy} already`
    : `set http.trustedProxies: [${[...entries, proxy].join(', ')}] in ${CONFIG_FILE}: else all clients count as one, the proxy`;
}

function holds(entry: string, address: string): boolean {
  const [network = '', bits] = entry.split('/');
  const family = isIP(network) === 6 ? 'ipv6' : 'ipv4';
  if (isIP(network) === 0 || isIP(address) !== isIP(network)) return false;
  const list = new BlockList();
  try {
    if (bits === undefined) list.addAddress(network, family);
    else list.addSubnet(network, Number(bits), family);
  } catch {
    return false; // a number of bits that there is not: the host refuses it, too
  }
  return list.check(address, family);
}

function urlNote({ raw }: DeployProject, host: string): string {
  const wanted = `https://${host}`;
  const value = raw(['http', 'publicUrl']);
  if (value === undefined || value === null)
    return `set http.publicUrl: ${wanted} in ${CONFIG_FILE}: addresses of webhooks and links to files are made of it`;
  const text = String(value);
  if (URL.canParse(text) && new URL(text).origin === wanted) return `http.publicUrl is ${wanted} already`;
  return `http.publicUrl is ${text}: it has to be ${wanted}`;
}

/** A path as a regular expression that matches it alone. */
const plainly = (path: string): string => path.replaceAll('.', '[.]');
