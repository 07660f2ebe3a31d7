// A whole host for the tests of the edge: it trusts proxies on loopback, takes signed webhooks, and large bodies at its echo.
import { Webhook } from 'standardwebhooks';
import { CHECKS } from '../../../../../supervisor/cli/doctor/checks.ts';
import { askedAgain } from '../../../../support/commands/asked-again.ts';
import { type RunningHost, runningHost } from '../../../../support/hosts/running-host.ts';
import { svc } from '../../../../support/svc-command.ts';
import type { Cleanup } from '../../../../support/temporary-project.ts';
import type { EdgeAddress, EdgeCall } from './edge-client.ts';
import type { Certificate } from './machine-proxies.ts';

const SECRET = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
const MIB = 1024 * 1024;
/** What the templates let through. */
export const LARGEST_BYTES = 26 * MIB;

export interface EdgeHost extends RunningHost {
  readonly port: number;
  readonly bearer: Readonly<Record<string, string>>;
}

export async function edgeHost(t: Cleanup): Promise<EdgeHost> {
  const host = await runningHost(t, {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
    plugins: { sandbox: {}, webhook: { endpoints: [{ id: 'shop', secrets: ['${HOOK_SECRET}'] }] } },
    env: { HOOK_SECRET: SECRET },
    http: { trustedProxies: ['127.0.0.1'], publicUrl: 'https://localhost', limits: { bodyBytes: 64 * MIB } },
  });
  return {
    ...host,
    port: Number(new URL(host.url).port),
    bearer: { authorization: `Bearer ${host.project.token}` },
  };
}

/** A delivery of the account `shop`: its bytes are signed as they stand. */
export function delivery(id: string, text: string): EdgeCall & { readonly body: string } {
  // Another spacing would be another signature.
  const body = `{ "conversation" : {"id":"room-1"},\n\t"user":{"id":"ann"},  "text":${JSON.stringify(text)} }\n`;
  const now = new Date();
  return {
    path: '/webhooks/webhook/shop',
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
      'webhook-signature': new Webhook(SECRET).sign(id, now, body),
    },
  };
}

export interface EdgeFinding {
  readonly id: string;
  readonly status: string;
  readonly reason: string;
}

export interface EdgeQuestion {
  readonly edge: EdgeAddress;
  readonly certificate: Certificate;
  /** Default: all of the edge. */
  readonly ids?: readonly string[];
  readonly idleSeconds?: number;
}

export const EDGE_IDS = CHECKS.map(({ id }) => id).filter((id) => id.startsWith('edge.'));

/** What `svc doctor --edge` finds besides what is well. It gives a proxy seconds: where others have the machine, it is asked again. */
export async function foundByDoctor(
  host: EdgeHost,
  asked: EdgeQuestion,
  expected: readonly string[],
): Promise<readonly EdgeFinding[]> {
  const isIdle = asked.idleSeconds !== undefined;
  return askedAgain(
    async () =>
      (await edgeDoctor(host, asked)).filter(
        ({ id, status }) => status !== (isIdle || id !== 'edge.idle' ? 'ok' : 'skip'),
      ),
    (found) => found.every(({ id }) => expected.includes(id)),
  );
}

/** What `svc doctor --edge` says, with the token of the project. */
export async function edgeDoctor({ project }: EdgeHost, asked: EdgeQuestion): Promise<readonly EdgeFinding[]> {
  const { ids = EDGE_IDS } = asked;
  const idle = asked.idleSeconds === undefined ? [] : ['--idle', String(asked.idleSeconds)];
  const args = ['--edge', `https://localhost:${asked.edge.port}`, ...idle, '--only', ids.join(',')];
  // Node reads it at its start: the command has to be a process of its own.
  const env = { NODE_EXTRA_CA_CERTS: asked.certificate.cert };
  const { stdout } = await svc(['doctor', ...args, '--json'], { cwd: project.path, env });
  return (JSON.parse(stdout) as { readonly checks: readonly EdgeFinding[] }).checks;
}

/** Ids of all deliveries that the host has stored, as often as it has. */
export async function storedIds(host: EdgeHost): Promise<readonly string[]> {
  const ids: string[] = [];
  let after = '';
  do {
    const page = (await host.get(`api/inbox?limit=100${after}`)) as {
      readonly items: readonly { readonly deliveryId: string }[];
      readonly next?: string;
    };
    ids.push(...page.items.map(({ deliveryId }) => deliveryId));
    after = page.next === undefined ? '' : `&after=${page.next}`;
  } while (after !== '');
  return ids;
}
