// Declarations for the part of irc-framework that the adapter uses. The package ships none.
declare module 'irc-framework' {
  import type { Socket } from 'node:net';

  export interface IrcLine {
    readonly command: string;
    readonly params: readonly string[];
    readonly nick: string;
    readonly ident: string;
    readonly hostname: string;
    readonly tags: Readonly<Record<string, string>>;
  }
  interface Transport {
    readonly socket: Socket | null;
    readonly incoming_buffer?: { readonly length: number };
    disposeSocket(): void;
  }
  interface Connection {
    readonly connected: boolean;
    readonly transport: Transport | null;
    on(event: 'message', listener: (line: IrcLine) => void): void;
    write(line: string, written?: () => void): void;
    end(lastLine?: string): void;
    clearTimers(): void;
    removeAllListeners(): void;
  }
  export interface ClientOptions {
    readonly host: string;
    readonly port: number;
    readonly tls: boolean;
    readonly rejectUnauthorized: boolean;
    readonly nick: string;
    readonly username: string;
    readonly gecos: string;
    readonly password: string;
    readonly account: { readonly account?: string; readonly password?: string };
    readonly sasl_disconnect_on_fail: boolean;
    readonly auto_reconnect: boolean;
    readonly version: string;
    readonly ping_interval: number;
    readonly ping_timeout: number;
  }
  export class Client {
    readonly user: { nick: string; username: string; host: string };
    readonly network: {
      readonly options: {
        readonly NICKLEN?: string;
        readonly CHANTYPES?: readonly string[];
        readonly CHATHISTORY?: string | true;
        readonly MSGREFTYPES?: string | true;
      };
      readonly cap: { isEnabled(name: string): boolean };
    };
    readonly connection: Connection;
    requestCap(name: string): void;
    connect(options: ClientOptions): void;
    caseLower(text: string): string;
    on(event: 'registered', listener: () => void): void;
    on(event: 'socket connected', listener: () => void): void;
    on(event: 'socket close', listener: (error: Error | false | undefined) => void): void;
    on(event: 'sasl failed', listener: (event: { readonly reason: string }) => void): void;
    on(event: 'raw socket connected', listener: (socket: Socket) => void): void;
    removeAllListeners(): void;
  }
}
