import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { recordEvents } from '../../../worker/events/event-history.ts';
import {
  EVENT_TYPES,
  eventKind,
  faultOfTypeName,
  type NewEvent,
  pluginEventType,
} from '../../../worker/events/event-types.ts';
import {
  controlFrame,
  type EventRow,
  envelopeJson,
  eventFrame,
  unwrapChunks,
} from '../../../worker/events/stream/frame.ts';

const SOURCE = { projectId: 'p', epoch: 'abcdefgh01234567' };
const ROW: EventRow = {
  seq: 7,
  at: 1_760_000_000_000,
  type: 'inbox.done',
  version: 1,
  subject: 'item-1',
  endpoint: 'root/irc:irc',
  run_id: 'run-1',
  actor: 'alice',
  correlation_id: 'c',
  causation_id: 'd',
  runtime_id: 'r',
  generation: 3,
  data: '{"item":"item-1","attempts":1,"sends":2,"durationMs":4,"secret":"x"}',
  bytes: 1,
};

describe('event types', () => {
  it('has a schema of plain fields and shows demo only fields that exist', () => {
    for (const [type, { data, demo, version }] of Object.entries(EVENT_TYPES)) {
      assert.match(type, /^[a-z]+\.[a-z_]+$/);
      assert.ok(version >= 1);
      for (const field of demo) assert.ok(field in data.properties, `${type} shows ${field}`);
    }
  });

  it('never shows demo who or where a person is, nor by what a text could be guessed', () => {
    const hidden = ['lane', 'delivery', 'conversation', 'platformMessage', 'reason', 'sha256', 'bytes', 'handler'];
    for (const [type, { demo }] of Object.entries(EVENT_TYPES)) {
      if (!/^(inbox|outbox|endpoint)\./.test(type)) continue;
      assert.deepEqual(
        demo.filter((field) => hidden.includes(field)),
        [],
      );
    }
  });

  it('keeps the names of the host from plugins (EVENTTYPE-4)', () => {
    for (const type of Object.keys(EVENT_TYPES))
      assert.throws(() => pluginEventType(type), { code: 'definition_invalid' });
    for (const name of [
      'polls',
      'Polls.closed',
      'polls.',
      '.polls',
      'polls..x',
      'svc.polls',
      'plugin.polls',
      'a.b c',
      `a.${'b'.repeat(200)}`,
      'a.b\n',
    ])
      assert.notEqual(faultOfTypeName(name), undefined, name);
    for (const name of ['polls.closed', 'plugin.polls.closed', 'my-shop.order_paid.v2'])
      assert.equal(faultOfTypeName(name), undefined, name);
    assert.equal(eventKind('toString'), undefined);
  });

  it('stores the version, the subject of an item, and the bytes of its data', () => {
    const own: NewEvent = { type: pluginEventType('polls.closed'), at: 1, runtimeId: 'r', data: { item: 'ä' } };
    const [counter, first, second] = recordEvents([
      own,
      { type: 'inbox.replayed', at: 2, runtimeId: 'r', data: { item: 'i' } },
    ]);

    assert.deepEqual(recordEvents([]), []);
    assert.deepEqual(counter?.parameters, [2, 'event']);
    assert.deepEqual(first?.parameters.slice(0, 6), [1, 'event', 1, 'polls.closed', 1, null]);
    assert.deepEqual(first?.parameters.slice(-2), ['{"item":"ä"}', 13]);
    assert.deepEqual(second?.parameters.slice(0, 6), [0, 'event', 2, 'inbox.replayed', 1, 'i']);
  });
});

describe('frame', () => {
  it('holds the whole envelope for full scope', () => {
    assert.deepEqual(JSON.parse(envelopeJson(ROW, 'full', SOURCE)), {
      specversion: '1.0',
      id: 'abcdefgh01234567.7',
      source: '/svc/p',
      type: 'inbox.done',
      time: '2025-10-09T08:53:20.000Z',
      datacontenttype: 'application/json',
      dataschema: 'urn:svc:event:inbox.done:1',
      runtimeid: 'r',
      generation: 3,
      endpoint: 'root/irc:irc',
      runid: 'run-1',
      subject: 'item-1',
      actor: 'alice',
      correlationid: 'c',
      causationid: 'd',
      data: { item: 'item-1', attempts: 1, sends: 2, durationMs: 4, secret: 'x' },
    });
  });

  it('leaves out for demo what the registry does not show, and all that a plugin put in', () => {
    const seen = JSON.parse(envelopeJson(ROW, 'demo', SOURCE)) as Record<string, unknown>;
    const own = JSON.parse(envelopeJson({ ...ROW, type: 'polls.closed' }, 'demo', SOURCE)) as Record<string, unknown>;

    assert.deepEqual(seen['data'], { item: 'item-1', attempts: 1, sends: 2, durationMs: 4 });
    assert.deepEqual([seen['actor'], seen['correlationid'], seen['subject']], [undefined, undefined, 'item-1']);
    assert.deepEqual([own['data'], own['subject']], [{}, undefined]);
  });

  it('is one block in one chunk, whatever line breaks the data has', () => {
    const chunk = eventFrame({ ...ROW, data: '{\r\n"item":\n"a"}' }, { scope: 'full', wire: 'sse' }, SOURCE);
    const text = unwrapChunks(chunk).toString();

    assert.match(text, /^id: abcdefgh01234567\.7\nevent: inbox\.done\ndata: [^\r\n]*"data":\{"item":"a"\}\}\n\n$/);
    const two = Buffer.concat([chunk, controlFrame({ event: 'svc.live', id: 'x', data: { head: 'ä' } }, 'sse')]);
    assert.equal(unwrapChunks(two).toString(), `${text}id: x\nevent: svc.live\ndata: {"head":"ä"}\n\n`);
  });
});
