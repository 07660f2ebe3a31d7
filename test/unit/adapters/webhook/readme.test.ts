// The shell lines of the webhook's README and of the guide to plugins: what they send is verified.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { parse } from '../../../../worker/adapters/webhook/parse.ts';
import { verify } from '../../../../worker/adapters/webhook/verify.ts';
import { type RawRequest, t, verifyHmac } from '../../../../worker/sdk/index.ts';
import { parse as checked } from '../../../../worker/sdk/schema/check.ts';
import { loopback } from '../../../../worker/testing/loopback.ts';
import { ROOT } from '../../../rules/source-tree.ts';

const missing = ((): string | false => {
  try {
    for (const name of ['curl', 'openssl', 'od']) execFileSync('sh', ['-c', `command -v ${name}`]);
    return false;
  } catch {
    return 'curl, openssl or od is not here';
  }
})();

/** Runs the shell lines of the page against a server, and gives what it was sent. */
async function sentBy(context: TestContext, page: string, env: Readonly<Record<string, string>>): Promise<RawRequest> {
  const [, lines = ''] = /^```sh\n([\s\S]*?curl[\s\S]*?)^```$/m.exec(readFileSync(join(ROOT, page), 'utf8')) ?? [];
  assert.match(lines, /curl/);
  const requests: RawRequest[] = [];
  const url = await loopback(context, (request) => {
    requests.push(request);
    return { status: 200 };
  });
  const script = lines.replaceAll('http://127.0.0.1:8068', url.replace(/\/$/, ''));
  await promisify(execFile)('sh', ['-ec', script], { env: { PATH: process.env['PATH'] ?? '', NO_PROXY: '*', ...env } });
  assert.equal(requests.length, 1);
  return requests[0] as RawRequest;
}
const secretOf = (text: string) => checked(t.object({ secret: t.secret() }), { secret: text }).secret;

it('the shell lines of the webhook sign a message that is taken', { skip: missing }, async (context) => {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const request = await sentBy(context, 'worker/adapters/webhook/README.md', { SHOP_SECRET: secret });

  assert.equal(request.path, '/webhooks/webhook/shop');
  assert.deepEqual(verify(request, { secrets: [secretOf(secret)] }), { kind: 'ok' });
  const [arrival] = parse(request);
  assert.deepEqual(arrival?.kind === 'message' && [arrival.text, arrival.user.name], ['/ping', 'Ann']);
});

it('the shell lines of the guide sign a delivery of its plugin', { skip: missing }, async (context) => {
  const request = await sentBy(context, 'worker/sdk/guide/plugins.md', { DEPLOYS_SECRET: 'a secret of deploys' });

  assert.equal(request.path, '/webhooks/deploys/done');
  assert.equal(request.headers['x-delivery'], '1');
  const signature = request.headers['x-signature'];
  assert.deepEqual(verifyHmac(request, { signature, secrets: [secretOf('a secret of deploys')] }), { kind: 'ok' });
});
