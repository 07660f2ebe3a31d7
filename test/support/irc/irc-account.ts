// An account of the IRC adapter at a server of the test.
import type { Account } from '../../../worker/adapters/irc/config.ts';

export const ircAccount = (port: number, change: Partial<Account> = {}): Account => ({
  server: '127.0.0.1',
  port,
  tls: false,
  verifyCertificate: true,
  nick: 'svcbot',
  alternateNicks: [],
  username: 'svc',
  realname: 'svc',
  channels: ['#room'],
  channelKeys: [],
  burstLines: 100,
  linesPerSecond: 100,
  ...change,
});
