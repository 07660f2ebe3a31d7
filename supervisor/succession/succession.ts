// Replaces one supervisor by another. The lock is never free in between, and the listening socket is never closed.
//
//   SUCCESSION-1  The successor starts first and must report that it is ready. Until then nothing changes and it can be given up.
//   SUCCESSION-2  It gets lock, socket, restart budget, history and secrets over their IPC channel. It acts on nothing before `go`.
//   SUCCESSION-3  A successor whose channel closes before `go` exits. If it dies before it has everything, its parent stays in charge.
//   SUCCESSION-4  Both sides carry this protocol's number. A successor with another number refuses.

import { type ChildProcess, type SendHandle, spawn } from 'node:child_process';
import type { Server } from 'node:net';
import { endChild } from '../../shared/process/end-child.ts';
import { SvcError } from '../../shared/svc-error.ts';
import type { HandedOver } from '../log/history.ts';
import type { InstanceLock } from './instance-lock.ts';

const SUCCESSION_PROTOCOL = 1;
const READY_MS = 10_000;
const TAKE_MS = 5_000;
/** File descriptor of a lock that is an open file, in the successor. */
export const LOCK_DESCRIPTOR = 4;

type Word =
  | { readonly type: 'lock' | 'go' }
  | { readonly type: 'estate'; readonly protocol: number; readonly estate: HandedOver }
  | { readonly type: 'ready' | 'taken' };

export interface SuccessorSpec {
  readonly program: string;
  /** Node options, the entry file and its arguments. */
  readonly args: readonly string[];
  readonly project: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** The waiting supervisor, seen from its parent. */
export class Successor {
  readonly pid: number;
  readonly #child: ChildProcess;
  #cause = '';

  /** Throws `refused` unless the successor gets ready in time. */
  static async start(spec: SuccessorSpec, lock: InstanceLock): Promise<Successor> {
    const successor = new Successor(spec, lock);
    try {
      await successor.#hear('ready', READY_MS);
    } catch (error) {
      successor.giveUp();
      throw error;
    }
    return successor;
  }

  private constructor({ program, args, project, environment }: SuccessorSpec, { descriptor }: InstanceLock) {
    this.#child = spawn(program, args, {
      cwd: project,
      detached: true,
      env: { ...environment },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc', descriptor ?? 'ignore'],
    });
    this.pid = this.#child.pid ?? 0;
    this.#child.on('error', (error) => {
      this.#cause += error.message;
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#cause = (this.#cause + text).slice(-1_000);
    });
  }

  /** Resolves once the successor has everything, and throws otherwise. */
  async handOver(estate: HandedOver, { lock, socket }: { readonly lock: InstanceLock; readonly socket?: SendHandle }) {
    const taken = this.#hear('taken', TAKE_MS);
    this.#say({ type: 'lock' }, lock.server);
    this.#say({ type: 'estate', protocol: SUCCESSION_PROTOCOL, estate }, socket);
    await taken;
  }

  /** The successor is in charge from now on. */
  go(): void {
    this.#say({ type: 'go' });
    this.#child.stderr?.destroy();
    this.#child.unref();
  }

  giveUp(): void {
    endChild(this.#child);
  }

  #say(word: Word, handle?: SendHandle): void {
    if (this.#child.connected) this.#child.send(word, handle, () => {}); // the `exit` event reports a failed send
  }

  #hear(type: 'ready' | 'taken', limitMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        clearTimeout(timer);
        this.#child.off('message', onMessage).off('close', onClose);
        settle();
      };
      const fail = (why: string): void =>
        end(() =>
          reject(
            new SvcError('refused', `the new supervisor ${why}${this.#cause === '' ? '' : `: ${this.#cause.trim()}`}`),
          ),
        );
      const onMessage = (word: unknown): void => {
        if ((word as Word).type === type) end(resolve);
      };
      const onClose = (): void => fail(`ended before it was ${type}`);
      const timer = setTimeout(() => fail(`was not ${type} within ${limitMs / 1_000} s`), limitMs);
      this.#child.on('message', onMessage).on('close', onClose);
    });
  }
}

/** Received by the successor. */
export interface Inheritance {
  readonly estate: HandedOver;
  /** The lock if it is a socket. Otherwise it is the descriptor LOCK_DESCRIPTOR. */
  readonly lock: Server | undefined;
  readonly socket: SendHandle | undefined;
}

/** Reports readiness and waits for `go`. Rejects if the parent ends first or speaks another protocol. */
export function inherit(): Promise<Inheritance> {
  const say = (word: Word): void => void process.send?.(word, undefined, undefined, () => {});
  return new Promise((resolve, reject) => {
    let lock: Server | undefined;
    let received: Inheritance | undefined;
    const onLost = (): void => reject(new SvcError('not_running', 'the supervisor that was to be replaced is gone'));
    const refuse = (protocol: number): void =>
      reject(
        new SvcError(
          'refused',
          `speaks version ${SUCCESSION_PROTOCOL} of the handover, the one to be replaced ${protocol}`,
        ),
      );
    process.once('disconnect', onLost);
    process.on('message', (value, handle: unknown) => {
      const word = value as Word;
      if (word.type === 'lock') lock = handle as Server | undefined;
      if (word.type === 'estate') {
        if (word.protocol !== SUCCESSION_PROTOCOL) return refuse(word.protocol);
        received = { estate: word.estate, lock, socket: handle as SendHandle | undefined };
        say({ type: 'taken' });
      }
      if (word.type !== 'go' || received === undefined) return;
      process.off('disconnect', onLost);
      resolve(received);
    });
    say({ type: 'ready' });
  });
}
