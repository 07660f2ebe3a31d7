// A proxy that is set in the environment, which svc does not use: whoever set it is told.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { proxyVariables, withProxyNote } from '../../../../shared/process/proxy-variables.ts';
import type { Subject } from '../../../../supervisor/cli/doctor/check.ts';
import { CHECKS } from '../../../../supervisor/cli/doctor/checks.ts';
import { defineAdapter } from '../../../../worker/sdk/index.ts';
import { engineHost } from '../../../support/hosts/engine-host.ts';
import { temporaryProject } from '../../../support/temporary-project.ts';

const PROXY = 'http://ann:secret@127.0.0.1:9';

it('doctor names the variables, and none of their values', async () => {
  const check = CHECKS.find(({ id }) => id === 'env.proxy');
  const finding = async (env: Subject['env']) => check?.run({ env } as Subject);

  const found = await finding({ HTTPS_PROXY: PROXY, all_proxy: PROXY, HTTP_PROXY: '', NO_PROXY: '*' });
  assert.equal(found?.status, 'warn');
  assert.match(found.reason, /^HTTPS_PROXY, all_proxy are set, but svc uses no proxy/);
  assert.doesNotMatch(JSON.stringify(found), /secret/);
  assert.equal((await finding({ NO_PROXY: 'localhost' }))?.status, 'ok');
  assert.deepEqual(proxyVariables({ http_proxy: 'x', https_proxy: '' }), ['http_proxy']);
});

it('an account that finds no way to its platform says that the variable is not used', async (context) => {
  const project = temporaryProject(context);
  const adapter = defineAdapter({
    name: 'far',
    account: {},
    can: { text: { limit: 100, unit: 'utf16', render: 'plain' } },
    connect: async () => {
      throw new TypeError('fetch failed', { cause: new Error('getaddrinfo ENOTFOUND api.example') });
    },
    send: async () => ({ kind: 'sent' }),
  });
  const host = await engineHost(context, {
    project,
    modules: { far: adapter },
    engine: { environment: { ...project.env, https_proxy: PROXY } },
  });
  const reasons = host.events('endpoint.state_changed').map(({ data }) => String(data['reason'] ?? ''));

  assert.ok(
    reasons.some((reason) => /ENOTFOUND api\.example.* \(https_proxy is set, but svc uses no proxy\)$/.test(reason)),
    reasons.join('\n'),
  );
  assert.equal(withProxyNote('the token is refused', { HTTPS_PROXY: PROXY }), 'the token is refused');
});
