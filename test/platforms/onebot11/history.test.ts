// What the adapter onebot11 reads of the history after an outage, where an implementation has half of it, tells it badly, or tells what is old.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { onebotBench, textsOf } from '../../support/accounts/onebot11-bench.ts';
import { until } from '../../support/until.ts';

const DAY_S = 86_400;
const seconds = (agoS = 0): number => Math.floor(Date.now() / 1_000) - agoS;
const cursorOf = (places: Readonly<Record<string, number>>): string => JSON.stringify(places);
const TIMED_OUT = { status: 'failed', retcode: 1200, data: null, message: 'Timeout' } as const;

describe('the history of OneBot', () => {
  it('gives nothing again whose id the host may have forgotten: the last message of a conversation that was quiet', async (t) => {
    const { fake, open } = await onebotBench(t, { change: { catchUp: true } });
    const old = seconds(40 * DAY_S);
    fake.line('handled long ago', { group: 7, push: false, time: old });
    fake.line('missed', { group: 8, push: false });

    const { link } = open(cursorOf({ 'group:7': old, 'group:8': old }));
    await until(() => fake.called('get_group_msg_history').length === 2, { what: 'both histories to be read' });
    fake.line('live', { group: 7 });
    await until(() => textsOf({ link }).includes('live'), { what: 'the live one' });

    assert.deepEqual(textsOf({ link }), ['missed', 'live']);
  });

  it('of groups is read where there is none of people', async (t) => {
    const { fake, open } = await onebotBench(t, { change: { catchUp: true } });
    fake.bot.without.add('get_friend_msg_history').add('get_recent_contact');
    fake.line('missed', { group: 7, push: false });

    const { link } = open(cursorOf({ 'group:7': seconds(60), 'private:5': seconds(60), 'private:6': seconds(60) }));
    await until(() => link.arrivals.length > 0, { what: 'what was missed' });

    assert.deepEqual(textsOf({ link }), ['missed']);
    assert.equal(fake.called('get_friend_msg_history').length, 1, 'what is not there is asked for once');
  });

  it('is read on behind a conversation that cannot be read, and the account is behind', async (t) => {
    const { fake, open } = await onebotBench(t, { change: { catchUp: true } });
    fake.bot.without.add('get_recent_contact');
    fake.next('get_group_msg_history', TIMED_OUT);
    fake.line('missed', { group: 7, push: false });

    const { link } = open(cursorOf({ 'group:7': seconds(60), 'group:8': seconds(60) }));
    await until(() => link.trouble === 'behind', { what: 'the trouble' });

    assert.deepEqual(textsOf({ link }), ['missed']);
  });

  it('is asked for no further where nothing of it is told', async (t) => {
    const { fake, open } = await onebotBench(t, { change: { catchUp: true } });
    fake.bot.without.add('get_recent_contact');
    fake.next('get_group_msg_history', ...Array.from({ length: 20 }, () => TIMED_OUT));
    const places = Array.from({ length: 20 }, (_, n) => [`group:${n + 1}`, seconds(60)] as const);

    const { link } = open(cursorOf(Object.fromEntries(places)));
    await until(() => link.trouble === 'behind', { what: 'the trouble' });

    assert.equal(fake.called('get_group_msg_history').length, 3);
  });

  it('may hold a message without a sender', async (t) => {
    const { fake, open } = await onebotBench(t, { change: { catchUp: true } });
    fake.bot.without.add('get_recent_contact');
    const { sender: _, ...bare } = fake.line('bare', { user: 5, group: 7, push: false });
    const { sender: _sender, user_id: _user, ...nobody } = fake.line('of nobody', { group: 7, push: false });
    const data = { messages: [{ ...nobody }, { ...bare }, 'x', { message_id: {} }] };
    fake.next('get_group_msg_history', { status: 'ok', retcode: 0, data });

    const { link } = open(cursorOf({ 'group:7': seconds(60) }));
    await until(() => link.arrivals.length > 0 || link.trouble !== undefined, { what: 'what was missed' });

    assert.deepEqual([textsOf({ link }), link.trouble], [['bare'], undefined]);
  });

  it('is read from now on where a message came with a time that cannot be', async (t) => {
    const { fake, open } = await onebotBench(t, { change: { catchUp: true } });
    const first = open(cursorOf({ 'private:1': seconds(60) }));
    // Not what the history says of both: it is read before they are said.
    await until(() => fake.called('get_friend_msg_history').length === 1, { what: 'the history to be read' });
    fake.line('in milliseconds', { group: 7, time: Date.now() });
    fake.line('for ever', { group: 7, time: 1e307 });
    await until(() => first.cursors.length > 0 && first.link.arrivals.length === 2, { what: 'both' });
    first.link.stop();
    await first.ended;
    fake.line('missed', { group: 7, push: false, time: seconds() + 1 });

    const second = open(first.cursors.at(-1));
    await until(() => textsOf(second).includes('missed'), { what: 'what was missed' });

    for (const { sentAt } of first.link.arrivals) assert.ok(sentAt <= Date.now() + DAY_S * 1_000, String(sentAt));
  });
});
