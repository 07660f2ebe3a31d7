// Alerts told by an account at a real IRC server and by a signed webhook, while the host is killed with SIGKILL and restarted: each is told once
// at each target, its end too, and what flaps as flapping. A server that was gone is told once of what holds by then.
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
import { type Ngircd, ngircd, ngircdMissing } from '../../support/irc/ngircd.ts';
import { shiftedBy } from '../../support/shifted-clock.ts';
import type { Cleanup } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

const MINUTE = 60_000;
/** What the tests do makes them true. */
const OFF = Object.fromEntries(
  ['SvcCrashed', 'SvcCrashLoop', 'SvcEndpointOffline'].map((name) => [name, { enabled: false }]),
);
const CHANNEL = '#ops';
/** First line of what is told of an alert, at whichever target. */
const HEAD = /^(WARNING|RESOLVED|FLAPPING \(warning\)|STILL WARNING|LATE)[ :].*$/gmu;
/** Bold and monospace of IRC. */
const MARKS = /[\u0002\u0011]/gu;

interface Made {
  readonly host: FaultyHost;
  readonly person: IrcPerson;
  readonly shift: (ms: number) => void;
}

/** Of the alert in the database. */
type State = 'firing' | 'quiet' | 'resolved';

class Alerted {
  readonly irc: Ngircd;
  readonly #host: FaultyHost;
  readonly #shift: (ms: number) => void;
  #person: IrcPerson;

  private constructor(irc: Ngircd, { host, person, shift }: Made) {
    this.irc = irc;
    this.#host = host;
    this.#person = person;
    this.#shift = shift;
  }

  static async start(t: Cleanup): Promise<Alerted> {
    const irc = await ngircd(t);
    const person = await reader(t, irc);
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
          rules: { ...OFF, SvcPausedLong: { for: '0s' } },
        },
      },
    });
    return new Alerted(irc, { host, person, shift });
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
    await this.#sends();
  }

  /** The same while there is no IRC server: the webhook has so many messages. */
  async livesWithoutIrc(minutes: number, state: State, posts: number): Promise<void> {
    await this.#next(minutes);
    await this.#looks(state);
    await until(() => this.#host.platform.posts.size === posts, { what: `${posts} messages at the webhook` });
  }

  /** The server is there again, and somebody reads. */
  async ircIsBack(t: Cleanup): Promise<void> {
    await this.irc.start();
    this.#person = await reader(t, this.irc);
  }

  /** An orderly stop; the next life looks half a minute after its start. */
  async restarts(state: State): Promise<void> {
    assert.equal((await this.#host.life.stop()).signal, null);
    this.#host.restart();
    await this.#looks(state);
    await this.#sends();
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
  }

  async #sends(): Promise<void> {
    const { api } = this.#host;
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

  /** Both targets have been told this, in this order, and no more. What was sent to a channel arrives a moment later. */
  async told(...heads: readonly string[]): Promise<void> {
    await this.heard(...heads);
    this.posted(...heads);
    assert.deepEqual(this.#host.platform.faults, []); // each was signed
  }

  /** The same of whoever reads the channel now. */
  async heard(...heads: readonly string[]): Promise<void> {
    const said = (): string =>
      this.#person.lines
        .flatMap((line) => /^:svc\S* PRIVMSG #ops :(.*)$/u.exec(line)?.[1] ?? [])
        .join('\n')
        .replaceAll(MARKS, '');
    await until(() => headsOf(said()).length >= heads.length, { what: `${heads.join(', ')} in the channel` });
    assert.deepEqual(headsOf(said()), heads);
  }

  posted(...heads: readonly string[]): void {
    const posted = [...this.#host.platform.posts.values()].map(({ text }) => text.replaceAll('*', ''));
    assert.deepEqual(headsOf(posted.join('\n')), heads);
  }
}

const headsOf = (text: string): readonly string[] => (text.match(HEAD) ?? []).map((line) => line.split(': ')[0] ?? '');

async function reader(t: Cleanup, { port }: Ngircd): Promise<IrcPerson> {
  const person = await ircPerson(t, port, 'oncall');
  await person.join(CHANNEL);
  return person;
}

const skip = ngircdMissing();

describe('alerts at a real IRC server and a signed webhook', { skip, concurrency: 4 }, () => {
  it('are told once where the host is killed before and after it has stored that they fire, and that they are over', async (t) => {
    const host = await Alerted.start(t);
    await host.pause(true);
    await host.dies(0, 'alerts.fires');
    await host.dies(0, 'alerts.told');
    await host.told();
    await host.lives(0, 'firing');
    await host.told('WARNING SvcPausedLong');
    await host.pause(false);
    await host.lives(2, 'quiet');
    await host.told('WARNING SvcPausedLong');

    await host.dies(6, 'alerts.fires');
    await host.dies(0, 'alerts.told');
    await host.told('WARNING SvcPausedLong');
    await host.lives(0, 'resolved');
    await host.lives(2, 'resolved');
    await host.told('WARNING SvcPausedLong', 'RESOLVED SvcPausedLong');
  });

  it('are told once over orderly restarts', async (t) => {
    const host = await Alerted.start(t);
    await host.pause(true);
    await host.lives(0, 'firing');
    await host.restarts('firing');
    await host.told('WARNING SvcPausedLong');
  });

  it('are told as flapping from the fourth change on, and then no more', async (t) => {
    const host = await Alerted.start(t);
    for (const isPaused of [true, false, true, false, true]) {
      await host.pause(isPaused);
      await host.lives(2, isPaused ? 'firing' : 'quiet');
      if (!isPaused) await host.lives(6, 'resolved');
    }
    await host.told(
      'WARNING SvcPausedLong',
      'RESOLVED SvcPausedLong',
      'WARNING SvcPausedLong',
      'FLAPPING (warning) SvcPausedLong',
    );
  });

  it('are told once, of what holds by then, at a server that was gone', async (t) => {
    const host = await Alerted.start(t);
    await host.pause(true);
    await host.lives(0, 'firing');
    await host.irc.kill();
    await host.pause(false);
    await host.livesWithoutIrc(2, 'quiet', 1);
    await host.livesWithoutIrc(6, 'resolved', 2);
    await host.pause(true);
    await host.livesWithoutIrc(2, 'firing', 3);
    await host.ircIsBack(t);
    await host.lives(2, 'firing');

    host.posted('WARNING SvcPausedLong', 'RESOLVED SvcPausedLong', 'WARNING SvcPausedLong');
    await host.heard('LATE', 'WARNING SvcPausedLong');
  });
});
