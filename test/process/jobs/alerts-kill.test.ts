// Alerts told by an account at a real IRC server and by a signed webhook, while the host is killed with SIGKILL and restarted: each is told once
// at each target, its end too, and what flaps as flapping.
//
// A host looks a second after a start that follows a crash, so a life takes seconds. The wall clock moves between two lives.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { ShownAlerts } from '../../../shared/api/monitoring/alert.ts';
import { Sqlite } from '../../../shared/sqlite.ts';
import { FaultyHost } from '../../support/hosts/faulty-host.ts';
import { type IrcPerson, ircPerson } from '../../support/irc/irc-person.ts';
import { ngircd, ngircdMissing } from '../../support/irc/ngircd.ts';
import { shiftedBy } from '../../support/shifted-clock.ts';
import type { Cleanup } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

const MINUTE = 60_000;
const CHANNEL = '#ops';
/** First line of what is told of an alert, at whichever target. */
const HEAD = /^(WARNING|RESOLVED|FLAPPING \(warning\)|STILL WARNING|LATE)[ :].*$/gmu;
/** Bold and monospace of IRC. */
const MARKS = /[\u0002\u0011]/gu;

/** Of the alert in the database. */
type State = 'firing' | 'quiet' | 'resolved';

class Alerted {
  readonly #host: FaultyHost;
  readonly #person: IrcPerson;
  readonly #shift: (ms: number) => void;

  private constructor(host: FaultyHost, person: IrcPerson, shift: (ms: number) => void) {
    this.#host = host;
    this.#person = person;
    this.#shift = shift;
  }

  static async start(t: Cleanup): Promise<Alerted> {
    const irc = await ngircd(t);
    const person = await ircPerson(t, irc.port, 'oncall');
    await person.join(CHANNEL);
    const file = join(tmpdir(), `svc-shift-${randomUUID()}`);
    let shiftMs = 0;
    const shift = (ms: number): void => {
      shiftMs += ms;
      writeFileSync(file, String(shiftMs));
    };
    shift(0);
    t.after(() => rmSync(file));
    const account = { id: 'ops', nick: 'svc', server: '127.0.0.1', port: irc.port, tls: false, channels: [CHANNEL] };
    const host = await FaultyHost.start(t, {
      environment: shiftedBy(file),
      platform: { now: () => Date.now() + shiftMs },
      plugins: { irc: { endpoints: [{ ...account, burstLines: 100, linesPerSecond: 100 }] } },
      config: {
        alerts: {
          notify: [
            { endpoint: 'irc~ops', conversation: CHANNEL },
            { endpoint: 'webhook~shop', conversation: 'alerts' },
          ],
          rules: { SvcPausedLong: { for: '0s' }, SvcCrashed: { enabled: false }, SvcCrashLoop: { enabled: false } },
        },
      },
    });
    return new Alerted(host, person, shift);
  }

  /** Pauses ingress, by which the alert is true, or opens it. */
  async pause(isPaused: boolean): Promise<void> {
    const response = await fetch(`${this.#host.url}/api/system/ingress`, {
      method: 'PUT',
      headers: {
        authorization: `Bearer ${this.#host.project.token}`,
        'content-type': 'application/json',
        connection: 'close',
      },
      body: JSON.stringify(isPaused ? { state: 'paused', reason: 'a test' } : { state: 'open' }),
    });
    assert.equal(response.status, 200, await response.text());
  }

  /** Killed; the next life begins after so long, and ends by itself at this point. */
  async dies(minutes: number, point: string): Promise<void> {
    await this.#next(minutes, point);
    assert.equal((await this.#host.life.ended).signal, 'SIGKILL');
  }

  /** Killed; the next life begins after so long, has looked and stored that, and has sent what it tells. */
  async lives(minutes: number, state: State): Promise<void> {
    await this.#next(minutes);
    await this.#looks(state);
  }

  /** An orderly stop; the next life looks half a minute after its start. */
  async restarts(state: State): Promise<void> {
    assert.equal((await this.#host.life.stop()).signal, null);
    this.#host.restart();
    await this.#looks(state);
  }

  async #next(minutes: number, point?: string): Promise<void> {
    await this.#host.life.kill();
    this.#shift(minutes * MINUTE);
    this.#host.restart(point === undefined ? undefined : `${point}=kill`);
  }

  async #looks(state: State): Promise<void> {
    await this.#host.isReady(true);
    const { api } = this.#host;
    await until(async () => ((await api.get('/api/alerts')) as ShownAlerts).at !== null, {
      what: 'the first look at alerts',
      everyMs: 100,
    });
    await until(() => this.#stored() === state, { what: `the alert to be stored as ${state}`, everyMs: 50 });
    await until(async () => (await api.unfinished()) === 0, { what: 'everything to be sent', everyMs: 50 });
  }

  #stored(): State | undefined {
    const database = new Sqlite(this.#host.project.paths.database, { readonly: true });
    try {
      const row = database.prepare("SELECT phase, quiet_since FROM alerts WHERE name = 'SvcPausedLong'").get() as
        | { readonly phase: State; readonly quiet_since: number | null }
        | undefined;
      return row?.phase === 'firing' && row.quiet_since !== null ? 'quiet' : row?.phase;
    } finally {
      database.close();
    }
  }

  /** What was told, in order, which has to be the same at both targets. */
  told(): readonly string[] {
    const said = this.#person.lines.flatMap((line) => {
      const text = /^:svc\S* PRIVMSG #ops :(.*)$/u.exec(line)?.[1];
      return text === undefined ? [] : [text.replaceAll(MARKS, '')];
    });
    const posted = [...this.#host.platform.posts.values()].map(({ text }) => text.replaceAll('*', ''));
    const [byIrc, byWebhook] = [said.join('\n'), posted.join('\n')].map((text) => text.match(HEAD) ?? []);
    assert.deepEqual(byIrc, byWebhook);
    assert.deepEqual(this.#host.platform.faults, []); // each was signed
    return (byIrc ?? []).map((line) => line.split(': ')[0] ?? '');
  }
}

const skip = ngircdMissing();

describe('alerts at a real IRC server and a signed webhook', { skip, concurrency: 3 }, () => {
  it('are told once where the host is killed before and after it has stored that they fire, and that they are over', async (t) => {
    const host = await Alerted.start(t);
    await host.pause(true);
    await host.dies(0, 'alerts.fires');
    await host.dies(0, 'alerts.told');
    assert.deepEqual(host.told(), []);
    await host.lives(0, 'firing');
    assert.deepEqual(host.told(), ['WARNING SvcPausedLong']);
    await host.pause(false);
    await host.lives(2, 'quiet');
    assert.deepEqual(host.told(), ['WARNING SvcPausedLong']);

    await host.dies(6, 'alerts.fires');
    await host.dies(0, 'alerts.told');
    assert.equal(host.told().length, 1);
    await host.lives(0, 'resolved');
    await host.lives(2, 'resolved');
    assert.deepEqual(host.told(), ['WARNING SvcPausedLong', 'RESOLVED SvcPausedLong']);
  });

  it('are told once over orderly restarts', async (t) => {
    const host = await Alerted.start(t);
    await host.pause(true);
    await host.lives(0, 'firing');
    await host.restarts('firing');
    assert.deepEqual(host.told(), ['WARNING SvcPausedLong']);
  });

  it('are told as flapping from the fourth change on, and then no more', async (t) => {
    const host = await Alerted.start(t);
    for (const isPaused of [true, false, true, false, true]) {
      await host.pause(isPaused);
      await host.lives(2, isPaused ? 'firing' : 'quiet');
      if (!isPaused) await host.lives(6, 'resolved');
    }
    assert.deepEqual(host.told(), [
      'WARNING SvcPausedLong',
      'RESOLVED SvcPausedLong',
      'WARNING SvcPausedLong',
      'FLAPPING (warning) SvcPausedLong',
    ]);
  });
});
