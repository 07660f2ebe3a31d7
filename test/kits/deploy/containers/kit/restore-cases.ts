// A checkpoint of a host that runs under Compose: made, brought out, gone back to, and brought into volumes that are new, by the commands of the guide.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ask, type BotProject } from '../../../../support/containers/deployed-bot.ts';
import type { Engine } from '../../../../support/containers/engine.ts';
import { typeLines } from '../../../../support/containers/guide-lines.ts';
import { guideLines } from '../../../../support/deploy/guide-blocks.ts';
import { until } from '../../../../support/until.ts';

const PAGE = 'containers.md';

export interface RestoreSubject {
  readonly engine: Engine;
  readonly bot: BotProject;
  readonly ready: () => Promise<unknown>;
}

/** `skip`: of what takes longer. */
export function restoreCases(subject: () => RestoreSubject, skip: string | false): void {
  const block = (...names: readonly string[]): readonly string[] => names.flatMap((name) => guideLines(PAGE, name));
  const type = (lines: readonly string[]): Promise<readonly string[]> => {
    const { engine, bot, ready } = subject();
    return typeLines(engine, { ...bot, ready }, lines);
  };
  const say = async (person: string): Promise<void> => {
    const { engine, bot } = subject();
    const body = { person, text: '/hello', delivery: `restore-${person}` };
    assert.equal((await ask(engine, bot, '/api/chat/say', { method: 'POST', body })).status, 202);
    await until(() => isGreeted(person), { what: `the answer to ${person}` });
  };
  const isGreeted = async (person: string): Promise<boolean> => {
    const { engine, bot } = subject();
    const { body } = await ask(engine, bot, `/api/chat/messages?person=${person}`, { until: 200 });
    return JSON.stringify(body).includes(`Hello, ${person}!`);
  };

  it('goes back to a checkpoint by the commands of the guide', async () => {
    await say('early');
    const kept = await type(block('keep'));
    await say('late');
    const said = await type(block('look', 'restore'));

    assert.match(kept.join(''), /c1 +\d+ s .* made +weekly/u);
    assert.match(said.join(''), /c1 .*rehearsed[^]*LOST[^]*c1 is restored/u);
    assert.deepEqual([await isGreeted('early'), await isGreeted('late')], [true, false]);
    await say('after');
  });

  it('comes up from an archive on volumes that are new', { skip }, async () => {
    await type(['docker compose down --volumes']);
    const said = await type(block('bring-in'));

    assert.match(said.join(''), /c1 is restored/u);
    assert.deepEqual([await isGreeted('early'), await isGreeted('late')], [true, false]);
    await say('anew');
  });
}
