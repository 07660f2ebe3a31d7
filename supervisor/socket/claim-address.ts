// Binds the worker's address. A port in use is tried three times within 3 s, then the error names its holder.

import type { Address } from '../../shared/process/bound-socket.ts';
import { bindFault, holderOf } from '../../shared/process/port-owner.ts';
import { delay } from '../../shared/time/abort.ts';
import type { HeldSocket } from './held-socket.ts';

export interface ClaimOptions {
  readonly socket: HeldSocket;
  readonly address: Address;
  /** Whether no other host is about to listen on this port. Asked before the bind. */
  readonly takeTurn: (port: number) => Promise<boolean>;
  /** Default 3. */
  readonly tries?: number;
  /** Checked before each attempt. */
  readonly isWanted?: () => boolean;
  readonly say: (message: string, fields: Readonly<Record<string, unknown>>) => void;
}

const TRIES = 3;
const PAUSE_MS = 1_500;

/**
 * Returns undefined if the address is bound, free (where binding is impossible), or not wanted any more. Otherwise returns the reason and the
 * holder.
 */
export async function claimAddress({
  socket,
  address,
  takeTurn,
  tries = TRIES,
  isWanted = () => true,
  say,
}: ClaimOptions): Promise<string | undefined> {
  for (let attempt = 1; isWanted(); attempt += 1) {
    const fault = (await takeTurn(address.port)) ? await faultOf(socket, address) : 'EADDRINUSE';
    if (fault === undefined) return undefined;
    const detail = detailOf(address, fault);
    if (attempt >= tries) return detail;
    say('port is not free yet', { detail, attempt });
    await delay(PAUSE_MS);
  }
  return undefined;
}

function faultOf(socket: HeldSocket, address: Address): string | undefined | Promise<string | undefined> {
  if (socket.isPossible) return socket.hold(address);
  return address.port === 0 ? undefined : bindFault(address.host, address.port);
}

const detailOf = ({ host, port }: Address, fault: string): string =>
  fault === 'EADDRINUSE' ? `port ${port} is held by ${holderOf(port)}` : `cannot bind ${host}:${port}: ${fault}`;
