// Signatures and tokens of deliveries are compared with every secret of the account, without an early end, and as digests of one length.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import { verify as github } from '../../../worker/adapters/github/verify.ts';
import { verify as line } from '../../../worker/adapters/line/verify.ts';
import { verify as onebot11 } from '../../../worker/adapters/onebot11/verify.ts';
import { verify as slack } from '../../../worker/adapters/slack/verify.ts';
import { verify as telegram } from '../../../worker/adapters/telegram/verify.ts';
import { verify as webhook } from '../../../worker/adapters/webhook/verify.ts';
import type { RawRequest, Secret, Verdict } from '../../../worker/sdk/index.ts';
import { secret } from '../../../worker/sdk/secret.ts';
import { comparisons } from '../../support/comparisons.ts';

const AT = 1_767_000_000;
const BODY = '{"update_id":1}';
const TEXTS = ['one', 'two', 'six'].map((name) => `whsec_${Buffer.from(name.repeat(10)).toString('base64')}`);

interface Signed {
  headers(by: string): Readonly<Record<string, string>>;
  verify(request: RawRequest, secrets: Secret[]): Verdict;
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

const PLATFORMS: Readonly<Record<string, Signed>> = {
  github: {
    headers: (by) => ({
      'x-github-delivery': '1',
      'x-github-event': 'push',
      'x-hub-signature-256': `sha256=${hmac(by, BODY).toString('hex')}`,
    }),
    verify: (request, secrets) => github(request, { secrets }),
  },
  line: {
    headers: (by) => ({ 'x-line-signature': hmac(by, BODY).toString('base64') }),
    verify: (request, channelSecrets) => line(request, { channelSecrets }),
  },
  onebot11: {
    headers: (by) => ({ 'x-signature': `sha1=${createHmac('sha1', by).update(BODY).digest('hex')}` }),
    verify: (request, secrets) => onebot11(request, { mode: 'http', secrets }),
  },
  slack: {
    headers: (by) => ({
      'x-slack-request-timestamp': String(AT),
      'x-slack-signature': `v0=${hmac(by, `v0:${AT}:${BODY}`).toString('hex')}`,
    }),
    verify: (request, secrets) => slack(request, { secrets }),
  },
  telegram: {
    headers: (by) => ({ 'x-telegram-bot-api-secret-token': by }),
    verify: (request, secrets) => telegram(request, { mode: 'webhook', secrets, username: 'bot' } as never),
  },
  webhook: {
    headers: (by) => ({
      'webhook-id': 'm1',
      'webhook-timestamp': String(AT),
      'webhook-signature': `v1,${hmac(Buffer.from(by.slice(6), 'base64'), `m1.${AT}.${BODY}`).toString('base64')}`,
    }),
    verify: (request, secrets) => webhook(request, { secrets }),
  },
};

describe('a delivery that is signed', () => {
  for (const [name, platform] of Object.entries(PLATFORMS))
    it(`each secret of an account is compared, in constant time and whichever fits: ${name}`, (t) => {
      const seen = comparisons(t);
      const secrets = TEXTS.map((text) => secret(text));
      const asked = [...TEXTS, 'whsec_b3RoZXJvdGhlcm90aGVyb3RoZXJvdGhlcm90aGVy'].map((by) => {
        const headers = platform.headers(by);
        const request = {
          method: 'POST',
          path: '/',
          query: {},
          headers,
          body: Buffer.from(BODY),
          receivedAt: AT * 1_000,
        };
        const { kind } = platform.verify(request, secrets);
        return `${kind} ${seen.splice(0).length}`;
      });

      assert.deepEqual(asked, ['ok 3', 'ok 3', 'ok 3', 'refused 3']);
    });
});
