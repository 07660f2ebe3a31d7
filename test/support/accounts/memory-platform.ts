// A platform in memory for tests of the host: accounts that connect and fail on demand, people who write, calls as they arrive.

import type { Rate } from '../../../worker/outbox/send-rate.ts';
import {
  type AdapterModule,
  type Arrival,
  type Can,
  defineAdapter,
  type Link,
  type Outgoing,
  type SendResult,
  t,
} from '../../../worker/sdk/index.ts';

export interface PlatformCall {
  readonly endpoint: string;
  readonly call: Outgoing;
}

type Answer = (call: Outgoing, endpoint: string) => SendResult | Promise<SendResult>;

export class MemoryPlatform {
  readonly adapter: AdapterModule;
  /** Every call that reached it, in order. */
  readonly calls: PlatformCall[] = [];
  /** Connections that stand, by endpoint. */
  readonly links = new Map<string, Link<unknown>>();
  /** How often each account was connected. */
  readonly connects = new Map<string, number>();
  /** Accounts that cannot connect now, and why. */
  readonly down = new Map<string, Error>();
  /** Overrides what a send gives. */
  answer: Answer | undefined;
  /** What a catch-up does. */
  catchUp: ((link: Link<unknown>) => Promise<void>) | undefined;
  #deliveries = 0;
  #messages = 0;

  constructor(can: Partial<Can> = {}) {
    this.adapter = this.make(can);
  }

  /** Another definition of the same platform. */
  make(can: Partial<Can> = {}, rate?: Rate): AdapterModule {
    return defineAdapter({
      name: 'memory',
      ...(rate === undefined ? {} : { rate }),
      account: { room: t.string({ default: 'lobby' }) },
      can: {
        text: { limit: 4_000, unit: 'utf16', render: 'plain' },
        edit: true,
        remove: true,
        buttons: 8,
        idempotent: true,
        ...can,
      },
      connect: (link) => this.#connect(link as Link<unknown>),
      catchUp: async (link) => this.catchUp?.(link as Link<unknown>),
      send: async (call, link) => this.#send(call, link.endpoint),
    });
  }

  /** Texts that were sent into a conversation, in order. */
  said(conversation: string, endpoint?: string): string[] {
    return this.calls.flatMap(({ call, endpoint: at }) =>
      call.conversation === conversation &&
      (endpoint === undefined || at === endpoint) &&
      (call.kind === 'post' || call.kind === 'edit')
        ? [call.text]
        : [],
    );
  }

  /** Somebody writes; resolves when it is stored. */
  async says(
    text: string,
    {
      from = 'ann',
      endpoint = 'root/memory:memory~a',
      room,
      id,
    }: { from?: string; endpoint?: string; room?: string; id?: string } = {},
  ): Promise<void> {
    const conversation = { id: room ?? `dm-${from}`, kind: room === undefined ? 'private' : 'group' } as const;
    await this.arrive(
      {
        id: id ?? `d${(this.#deliveries += 1)}`,
        conversation,
        user: { id: from, name: from, admin: false },
        sentAt: 0,
        kind: 'message',
        message: `m${this.#deliveries}`,
        text,
      },
      endpoint,
    );
  }

  async presses(
    label: string,
    { from = 'ann', endpoint = 'root/memory:memory~a' }: { from?: string; endpoint?: string } = {},
  ): Promise<void> {
    const buttons = this.calls
      .toReversed()
      .flatMap(({ call }) => (call.kind === 'post' || call.kind === 'edit' ? call.buttons : []));
    const found = buttons.find((button) => button.label === label);
    if (found === undefined) throw new Error(`no button ${label}`);
    const conversation = { id: `dm-${from}`, kind: 'private' } as const;
    await this.arrive(
      {
        id: `d${(this.#deliveries += 1)}`,
        conversation,
        user: { id: from, name: from, admin: false },
        sentAt: 0,
        kind: 'pressed',
        message: 'm',
        token: found.token,
      },
      endpoint,
    );
  }

  async arrive(arrival: Arrival, endpoint = 'root/memory:memory~a'): Promise<void> {
    const link = this.links.get(endpoint);
    if (link === undefined) throw new Error(`${endpoint} is not connected`);
    await link.receive([arrival]);
  }

  /** The connection of an account breaks. */
  readonly breaks = new Map<string, (error: Error) => void>();

  #connect(link: Link<unknown>): Promise<void> {
    const { endpoint } = link;
    const failure = this.down.get(endpoint);
    if (failure !== undefined) return Promise.reject(failure);
    this.connects.set(endpoint, (this.connects.get(endpoint) ?? 0) + 1);
    this.links.set(endpoint, link);
    link.online();
    return new Promise((resolve, reject) => {
      const gone = (): void => {
        if (this.links.get(endpoint) === link) this.links.delete(endpoint);
      };
      this.breaks.set(endpoint, (error) => {
        gone();
        reject(error);
      });
      link.signal.addEventListener('abort', () => {
        gone();
        resolve();
      });
    });
  }

  async #send(call: Outgoing, endpoint: string): Promise<SendResult> {
    const given = await this.answer?.(call, endpoint);
    if (given !== undefined && given.kind !== 'sent') return given;
    this.calls.push({ endpoint, call });
    return given ?? { kind: 'sent', message: `p${(this.#messages += 1)}` };
  }
}
