// Declarations for the used part of @xmpp/client, which has none of its own.
declare module '@xmpp/client' {
  import type { EventEmitter } from 'node:events';

  export interface XmlElement {
    readonly name: string;
    readonly attrs: Record<string, string | undefined>;
    readonly children: readonly (XmlElement | string)[];
    parent: XmlElement | null;
    is(name: string, namespace?: string): boolean;
    getNS(): string | undefined;
    getChild(name: string, namespace?: string): XmlElement | undefined;
    getChildren(name: string, namespace?: string): XmlElement[];
    getChildElements(): XmlElement[];
    getChildText(name: string, namespace?: string): string | null;
    text(): string;
    toString(): string;
  }
  export type XmlChild = XmlElement | string | undefined;
  export interface XmlParser extends EventEmitter {
    write(text: string): void;
  }
  export interface Xml {
    (name: string, attrs?: Record<string, string | undefined>, ...children: XmlChild[]): XmlElement;
    readonly Parser: new () => XmlParser;
  }
  export interface QueueItem {
    stanza: XmlElement;
    readonly stamp: string;
  }
  export interface StreamManagement {
    enabled: boolean;
    id: string;
    outbound: number;
    inbound: number;
    outbound_q: QueueItem[];
    requestAckDebounce: number;
    on(event: 'ack' | 'fail', listener: (stanza: XmlElement) => void): void;
    on(event: 'resumed', listener: () => void): void;
  }
  export interface Transport {
    new (): object;
    readonly prototype: { socketParameters(service: string): object | undefined };
  }
  export interface Jid {
    toString(): string;
    bare(): Jid;
  }
  export type Authenticate = (
    credentials: { readonly username: string; readonly password: string },
    mechanism: string,
    userAgent?: XmlElement,
  ) => Promise<void>;
  /** The library's SCRAM-SHA-1 mechanism. */
  export interface Scram {
    _genNonce(): string;
    /** Fields parsed from the challenge. */
    readonly _cnonce: string;
    readonly _nonce: string | undefined;
    readonly _salt: Uint8Array;
    readonly _iterationCount: number;
    challenge(challenge: string): unknown;
    response(credentials: ScramCredentials): string | Promise<string>;
  }
  /** With salt and salted password given, the library does not compute them. */
  export interface ScramCredentials {
    readonly username: string;
    readonly password: string;
    readonly salt?: Uint8Array;
    readonly saltedPassword?: Uint8Array;
  }
  export interface SaslFactory {
    readonly _mechs: { readonly name: string; mech: new () => Scram }[];
    create(names: readonly string[]): Scram | null;
  }
  export interface ClientOptions {
    readonly service: string;
    readonly domain: string;
    readonly resource?: string;
    readonly timeout?: number;
    readonly credentials: (authenticate: Authenticate, mechanisms: readonly string[]) => Promise<void>;
  }
  export interface XmppEntity extends EventEmitter {
    jid: Jid | null;
    status: string;
    socket: unknown;
    transports: Transport[];
    readonly streamManagement: StreamManagement;
    readonly saslFactory: SaslFactory;
    readonly reconnect: { stop(): void };
    readonly iqCaller: {
      request(iq: XmlElement, timeoutMs?: number): Promise<XmlElement>;
      /** Unanswered requests by id. */
      readonly handlers: ReadonlyMap<string, { readonly promise: Promise<XmlElement>; reject(error: Error): void }>;
    };
    connect(service: string): Promise<unknown>;
    open(options: { readonly domain: string }): Promise<unknown>;
    send(element: XmlElement): Promise<void>;
    write(text: string): Promise<void>;
    _jid(jid: string): void;
    _onSeeOtherHost(error: Error): unknown;
  }
  export function client(options: ClientOptions): XmppEntity;
  export const xml: Xml;
}
