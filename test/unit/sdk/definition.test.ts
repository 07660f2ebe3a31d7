// Definitions and errors are known by marks, so that two copies of the SDK work together.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { accountFailed, defineAdapter, definePlugin, giveUp, retryLater, userError } from 'svc';
import { readAdapter, readDefinition, readPlugin } from '../../../worker/sdk/definition.ts';
import { errorCode } from '../../../worker/sdk/errors.ts';

const plugin = definePlugin({ name: 'echo', setup() {} });
const adapter = defineAdapter({
  name: 'wire',
  account: {},
  can: { text: { limit: 9, unit: 'bytes', render: 'plain' } },
  connect: async () => {},
  send: async () => ({ kind: 'sent' }),
});
const madeFor = (sdk: readonly [number, number]): object =>
  Object.defineProperty({ ...plugin }, Symbol.for('svc.definition'), { value: { kind: 'plugin', sdk } });

describe('readDefinition', () => {
  it('gives the host what the author wrote', () => {
    assert.equal(readPlugin(plugin).name, 'echo');
    assert.equal(readAdapter(adapter).can.text.limit, 9);
    assert.deepEqual(readDefinition(plugin), { kind: 'plugin', sdk: [1, 0] });
    assert.ok(Object.isFrozen(plugin));
  });

  it('refuses what is no definition, or of the other kind, and says what to do', () => {
    const refused = { code: 'definition_invalid' };

    for (const module of [undefined, null, 'x', {}, { name: 'x', setup() {} }]) {
      assert.throws(() => readPlugin(module), {
        ...refused,
        message: 'not a svc definition: export default definePlugin(…) or defineAdapter(…)',
      });
    }
    assert.throws(() => readPlugin(adapter), { ...refused, message: /^is an adapter, not a plugin/ });
    assert.throws(() => readAdapter(plugin), { ...refused, message: /^is a plugin, not an adapter/ });
    assert.throws(() => readPlugin(definePlugin({ name: 'No Good', setup() {} })), {
      ...refused,
      message: /needs a name/,
    });
  });

  it('refuses a newer SDK by name and takes the major before its own (DEFINITION-2)', () => {
    assert.throws(() => readPlugin(madeFor([1, 9])), { message: 'needs SDK 1.9, this svc has 1.0: update svc' });
    assert.throws(() => readPlugin(madeFor([2, 0])), { message: 'needs SDK 2.0, this svc has 1.0: update svc' });
    assert.equal(readPlugin(madeFor([0, 7])).name, 'echo');
  });
});

describe('errors', () => {
  it('carry a code under a mark', () => {
    const errors = [
      userError('No.'),
      retryLater('busy', { afterMs: 5 }),
      giveUp('broken'),
      accountFailed('401', 'renew the token'),
    ];

    assert.deepEqual(errors.map(errorCode), ['user_error', 'handler_retry', 'handler_fatal', 'account_failed']);
    assert.equal(errorCode(Object.assign(new Error('x'), { code: 'user_error' })), undefined);
  });

  it('leave a wait out that is no number', () => {
    assert.equal('afterMs' in retryLater('busy', { afterMs: Number.NaN }), false);
    assert.equal((retryLater('busy', { afterMs: 7 }) as unknown as { afterMs: number }).afterMs, 7);
  });
});
