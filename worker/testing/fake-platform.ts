// A platform in memory, with any `can`. It shows the messages that people would see, remembers idempotency keys, and refuses calls against `can`.
// It outlives a kill of the bot.
import { sizeOf } from '../outbox/split.ts';
import type { Can, Outgoing, SendResult } from '../sdk/adapter.ts';
import type { FileRef } from '../sdk/message.ts';

export interface Shown {
  readonly id: string;
  readonly text: string;
  readonly buttons: readonly { readonly label: string; readonly token: string }[];
  readonly files: readonly FileRef[];
  readonly reactions: readonly string[];
  readonly thread?: string;
  readonly replyTo?: string;
  readonly only?: string;
}

const ALL: Can = {
  text: { limit: 4_000, unit: 'utf16', render: 'markdown' },
  buttons: 20,
  edit: true,
  remove: true,
  react: true,
  replies: true,
  threads: true,
  only: true,
  typing: true,
  files: { maxBytes: 10_485_760 },
  idempotent: true,
};

export class FakePlatform {
  readonly can: Can;
  readonly #rooms = new Map<string, Shown[]>();
  readonly #messages = new Map<string, string>();
  #duplicates = 0;
  #next = 0;

  /** All features, overridden by `can`. */
  constructor(can: Partial<Can> = {}) {
    this.can = { ...ALL, ...can };
  }

  /** Calls taken twice with one key: a platform without idempotency keys shows both. */
  get duplicates(): number {
    return this.#duplicates;
  }

  /** The visible messages of a conversation, oldest first. */
  messages(conversation: string): readonly Shown[] {
    return this.#room(conversation);
  }

  readonly send = async (call: Outgoing): Promise<SendResult> => {
    const lack = this.#lack(call);
    if (lack !== undefined) return { kind: 'refused', reason: `the fake platform ${lack}` };
    if (call.kind === 'typing') return { kind: 'sent' };

    const known = this.#messages.get(call.key);
    if (known !== undefined && (this.can.idempotent ?? false) !== false) return { kind: 'sent', message: known };
    if (known !== undefined) this.#duplicates += 1;

    const message = call.kind === 'post' ? `m${(this.#next += 1)}` : (call.message ?? '');
    if (!this.#apply(call, message)) return { kind: 'refused', reason: `there is no message ${message}` };
    this.#messages.set(call.key, message);
    return { kind: 'sent', message };
  };

  /** Why this call contradicts `can`; the host must have degraded it. */
  #lack(call: Outgoing): string | undefined {
    if (call.kind !== 'post' && this.can[call.kind] !== true) return `cannot ${call.kind}`;
    if (call.kind !== 'post' && call.kind !== 'edit') return undefined;
    if (call.buttons.length > (this.can.buttons ?? 0)) return `takes ${this.can.buttons ?? 0} buttons`;
    if (call.files.length > 0 && this.can.files === undefined) return 'takes no files';
    if (sizeOf(call.text, this.can.text.unit) > this.can.text.limit)
      return `takes ${this.can.text.limit} ${this.can.text.unit}`;
    return undefined;
  }

  #apply(call: Exclude<Outgoing, { kind: 'typing' }>, message: string): boolean {
    const room = this.#room(call.conversation);
    const at = room.findIndex(({ id }) => id === message);
    const old = room[at];
    if (call.kind === 'post') {
      room.push({
        id: message,
        text: call.text,
        buttons: call.buttons,
        files: call.files,
        reactions: [],
        ...(call.thread === undefined ? {} : { thread: call.thread }),
        ...(call.replyTo === undefined ? {} : { replyTo: call.replyTo }),
        ...(call.only === undefined ? {} : { only: call.only }),
      });
      return true;
    }
    if (old === undefined) return call.kind === 'react';
    // Real platforms keep attached files, and an edit adds to them.
    if (call.kind === 'edit') {
      const added = call.files.filter(({ id }) => old.files.every((file) => file.id !== id));
      room[at] = { ...old, text: call.text, buttons: call.buttons, files: [...old.files, ...added] };
    }
    if (call.kind === 'remove') room.splice(at, 1);
    if (call.kind === 'react') {
      const others = old.reactions.filter((emoji) => emoji !== call.emoji);
      room[at] = { ...old, reactions: call.on ? [...others, call.emoji] : others };
    }
    return true;
  }

  #room(id: string): Shown[] {
    let room = this.#rooms.get(id);
    if (room === undefined) this.#rooms.set(id, (room = []));
    return room;
  }
}
