// An account of GitHub whose API does not answer: its webhooks come all the same.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { account as properties } from '../../../worker/adapters/github/config.ts';
import { createGithub } from '../../../worker/adapters/github/index.ts';
import type { Outgoing } from '../../../worker/sdk/index.ts';
import { adapterLink, definitionOf } from '../../support/accounts/adapter-link.ts';
import { FakeGithub } from '../../support/fake-platforms/github.ts';
import { until } from '../../support/until.ts';

const HELLO = 'octo/hello';
const DOWN = { status: 503, json: { message: 'GitHub is down for maintenance' } };
const github = definitionOf(createGithub({ betweenMs: 0, lookMs: 20, recheckMs: 20 }), properties);
const secret = (text: string) => ({ reveal: () => text });

async function whileDown(t: TestContext, login = 'helper-bot') {
  const fake = await new FakeGithub({ 'ghp-bot': login }).start(t);
  fake.data.open(HELLO, 1);
  fake.misbehave = () => DOWN;
  const account = { login: 'helper-bot', apiUrl: fake.url, repositories: [], token: secret('ghp-bot'), secrets: [] };
  const link = adapterLink({ ...account, secrets: [secret('a secret of it')] });
  t.after(() => link.stop());
  const ended = github.connect?.(link).then(
    () => undefined,
    (error: unknown) => error,
  );
  const post = { kind: 'post', key: 'k', conversation: `${HELLO}#1`, text: 'hi', buttons: [], files: [] } as const;
  return { fake, link, ended, send: () => github.send(post satisfies Outgoing, link) };
}

describe('an account of GitHub whose API is down at the start', () => {
  it('is degraded, says why, and heals by itself', async (t) => {
    const { fake, link, ended } = await whileDown(t);

    await until(() => link.trouble !== undefined, { what: 'the trouble' });
    const { isOnline, trouble } = link;
    fake.misbehave = undefined;
    await until(() => link.trouble === undefined, { what: 'the end of the trouble' });
    link.stop();

    assert.equal(isOnline, true, 'it stands: deliveries come');
    assert.match(trouble ?? '', /503.*maintenance/);
    assert.equal(await ended, undefined);
  });

  it('keeps what is to be said until GitHub answers, without asking for more than whose token it is', async (t) => {
    const { fake, link, send } = await whileDown(t);
    await until(() => link.trouble !== undefined, { what: 'the trouble' });

    const meanwhile = await send();
    fake.misbehave = undefined;
    const after = await send();

    assert.ok(meanwhile.kind === 'later' && meanwhile.account === true, JSON.stringify(meanwhile));
    assert.equal(after.kind, 'sent');
    assert.deepEqual(fake.requests.filter((one) => one.startsWith('POST') && one.endsWith('/comments')).length, 1);
  });

  it('fails when GitHub answers that the token is of another login, and says nothing before', async (t) => {
    const { fake, link, ended, send } = await whileDown(t, 'somebody-else');
    await until(() => link.trouble !== undefined, { what: 'the trouble' });

    fake.misbehave = undefined;
    await assert.rejects(send(), { code: 'account_failed' });
    const error = (await ended) as { readonly code?: string };

    assert.equal(error.code, 'account_failed');
    assert.deepEqual(fake.data.comments, []);
  });
});
