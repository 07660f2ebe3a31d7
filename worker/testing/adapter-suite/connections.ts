// Promises of an adapter about its connection, and about catching up.
import assert from 'node:assert/strict';
import type { Bench } from './adapter-bench.ts';
import { eitherGiven, given, has, heard, needs } from './lack.ts';
import { assertFailed, endOnceTold, idsOf, type Promised, type Trial } from './trial.ts';

async function catchesUp(trial: Trial): Promise<void> {
  const { bench, fixtures, online } = trial;
  await online(bench);
  for (const pass of ['first', 'second']) {
    await caughtUp(trial, bench);
    // The connection may bring some arrivals by itself.
    if (fixtures.platform === undefined) await trial.silence.until(() => hasAll(trial, bench), 'what was missed');
    assert.deepEqual(idsOf(bench), fixtures.history, `${pass} time`);
  }
  assert.notEqual(bench.cursor, undefined, 'link.receive is given the cursor behind what it brings');
}

/** Each connection ends when `link.signal` aborts. With HTTP the platform may end it before, after sending everything. */
async function comesOnline(trial: Trial): Promise<void> {
  const { bench, fixtures, refusal } = trial;
  for (const pass of ['first', 'second']) {
    const life = comeUp(trial, bench);
    try {
      await isUp(life, trial, `${pass} connection`);
      // An error after `link.signal` has aborted is a normal end: the signal cut off a call.
      if (fixtures.platform === undefined) assert.equal(life.lost?.error, undefined, `${pass} connection`);
    } finally {
      await life.close();
    }
  }
  if ((fixtures.platform ?? fixtures.refused) !== undefined) assertFailed(await refusal());
}

async function isUp(life: Begun, trial: Trial, what: string): Promise<void> {
  await trial.silence.until(() => life.isUp || life.lost !== undefined, what);
  assert.ok(life.isUp, `${what} comes up: ${String(life.lost?.error)}`);
}

/** A second connection brings no arrival twice. */
async function brings(trial: Trial): Promise<void> {
  const { bench, fixtures } = trial;
  for (const pass of ['first', 'second']) {
    await live(trial, bench, { isEnough: () => hasAll(trial, bench) });
    assert.deepEqual(idsOf(bench), fixtures.history, `${pass} connection`);
  }
}

/** The connection is cut once it is up. With HTTP the response to the next request is lost too. */
async function comesUpAgain(trial: Trial): Promise<void> {
  const { bench, fixtures, platform } = trial;
  const life = comeUp(trial, bench);
  try {
    await isUp(life, trial, 'the connection');
    let isOver = fixtures.platform !== undefined;
    if (isOver) platform.cut();
    else void Promise.resolve(fixtures.cut?.()).then(() => (isOver = true));
    await trial.silence.until(() => isOver || life.lost !== undefined, 'the end of a connection that was cut');
    assert.notEqual(codeOf(life.lost?.error), 'account_failed', 'a connection was lost, not the account');
  } finally {
    await life.close();
  }
  if (fixtures.platform !== undefined) platform.loseNext();
  let isBack = false;
  for (let tries = 0; tries < 3 && !isBack; tries += 1) {
    const next = comeUp(trial, bench);
    try {
      await trial.silence.until(() => next.isUp || next.lost !== undefined, 'another connection, or its end');
    } finally {
      await next.close();
    }
    assert.notEqual(codeOf(next.lost?.error), 'account_failed', 'a connection was lost, not the account');
    isBack = next.isUp;
  }
  assert.ok(isBack, 'another connection comes up');
}

/** The connection is cut at the first commit that stores an arrival. */
async function reconnects(trial: Trial): Promise<void> {
  const { fixtures, open, platform } = trial;
  let cut: Promise<void> | undefined;
  let cuts = 0;
  const bench = open({
    store(commit) {
      const before = bench.stored.length;
      commit();
      // Not at a first cursor: that may be stored before any connection is there to cut.
      if (cuts === 0 && bench.stored.length > before) cutNow();
    },
  });
  const cutNow = (): void => {
    cuts += 1;
    if (fixtures.platform === undefined) cut = fixtures.cut?.() ?? undefined;
    else {
      platform.loseNext();
      platform.cut();
    }
  };

  let isBack = false;
  const life = comeUp(trial, bench);
  try {
    await trial.silence.until(() => life.isUp || life.lost !== undefined, 'the connection');
    await trial.silence.until(() => cuts > 0, 'something to come');
    void cut?.then(() => (isBack = true));
    const isDone = (): boolean => isBack || (fixtures.platform !== undefined && hasAll(trial, bench));
    await trial.silence.until(() => life.lost !== undefined || isDone(), 'the end of a connection that was cut');
    assert.notEqual(codeOf(life.lost?.error), 'account_failed', 'a connection was lost, not the account');
  } finally {
    await life.close();
  }
  // The first connection may still meet the cut.
  for (let tries = 0; tries < 3; tries += 1) {
    const lost = await live(trial, bench, { isEnough: () => hasAll(trial, bench) });
    assert.notEqual(codeOf(lost?.error), 'account_failed', 'a connection was lost, not the account');
    if (lost === undefined) break;
  }
  assert.deepEqual(idsOf(bench), fixtures.history, 'the next connection brings what is missing, once');
}

/** Catches up. If `catchUp` asks the platform to deliver again, each such delivery is made, however often it was asked for. */
async function caughtUp({ fixtures, platform }: Trial, bench: Bench): Promise<void> {
  await bench.catchUp();
  if (fixtures.redelivers === undefined) return;
  for (const request of platform.asked) {
    const delivery = fixtures.redelivers(request);
    if (delivery !== undefined) await bench.deliver(delivery);
  }
}

export const hasAll = ({ fixtures: { history = [] } }: Trial, { stored }: Bench): boolean =>
  stored.length >= history.length;
export const codeOf = (error: unknown): unknown => (error as { readonly code?: unknown } | undefined)?.code;

interface Lost {
  /** The error of `connect`. */
  readonly error?: unknown;
}

interface Life {
  isEnough(): boolean;
  /** Collects the end of `connect`, to await it later. Left out: `live` awaits it. */
  readonly ends?: Promise<void>[];
}

/** Runs one life of the account: it comes up, catches up, and is closed once `isEnough`. Resolves to how the connection was lost, or to undefined. */
export async function live(trial: Trial, bench: Bench, { isEnough, ends }: Life): Promise<Lost | undefined> {
  const { connect } = trial.definition;
  if (connect === undefined)
    return caughtUp(trial, bench).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
  const life = comeUp(trial, bench);
  try {
    const isOver = (): boolean => life.lost !== undefined || (life.isUp && isEnough());
    await trial.silence.until(isOver, 'what the connection brings, or its end');
    return life.lost;
  } finally {
    const end = life.close();
    if (ends === undefined) await end;
    else ends.push(end);
  }
}

interface Begun {
  readonly isUp: boolean;
  readonly lost: Lost | undefined;
  close(): Promise<void>;
}

/** Connects like the host: once the account is online, it catches up. An error of catching up after the close is no loss. */
function comeUp(trial: Trial, bench: Bench): Begun {
  const connection = bench.connect();
  let isUp = false;
  let isClosed = false;
  let lost: Lost | undefined;
  connection.ended.then(
    () => (lost ??= {}),
    (error: unknown) => (lost ??= { error }),
  );
  connection.online
    .then(() => {
      isUp = true;
      return caughtUp(trial, bench);
    })
    .catch((error: unknown) => {
      if (!isClosed) lost ??= { error };
    });
  return {
    get isUp() {
      return isUp;
    },
    get lost() {
      return lost;
    },
    close() {
      isClosed = true;
      return endOnceTold(connection, trial.silence);
    },
  };
}

const connected = needs(has('connect'), given('history'));
const cutOff = needs(connected, eitherGiven('cut', 'platform'));

export const CONNECTIONS: readonly Promised[] = [
  {
    title: 'catches up once, from the committed cursor, without its own messages',
    lack: needs(has('catchUp'), heard),
    keep: catchesUp,
  },
  {
    title: 'comes online over its connection, twice, and ends an account whose token is refused',
    lack: connected,
    part: eitherGiven('refused', 'platform'),
    keep: comesOnline,
  },
  {
    title: 'brings over its connection what came, once and in order',
    lack: needs(connected, heard),
    keep: brings,
  },
  {
    title: 'a connection that the platform ends is lost, not the account: another one comes up',
    lack: cutOff,
    keep: comesUpAgain,
  },
  {
    title: 'a connection that the platform ends is lost, not the account: the next brings what is missing, once',
    lack: needs(cutOff, heard),
    keep: reconnects,
  },
];
