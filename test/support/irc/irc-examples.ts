// Examples of the specifications of IRCv3 as they are published (ircv3-specifications, extensions/): what a server says, line by line.

/** chathistory.md, "Requesting the latest conversation upon joining a channel". */
export const CHANNEL_HISTORY = [
  ':irc.host BATCH +ID chathistory #channel',
  '@batch=ID;msgid=1234;time=2019-01-04T14:33:26.123Z :nick!ident@host PRIVMSG #channel :message',
  '@batch=ID;msgid=1235;time=2019-01-04T14:33:38.123Z :nick!ident@host NOTICE #channel :message',
  '@batch=ID;msgid=1238;time=2019-01-04T14:34:17.123Z;+client-tag=val :nick!ident@host PRIVMSG #channel :\u0001ACTION message\u0001',
  ':irc.host BATCH -ID',
];

/** chathistory.md, "Requesting further message history": bob and alice in private. */
export const PRIVATE_HISTORY = [
  ':irc.host BATCH +ID chathistory bob',
  '@batch=ID;msgid=1234;time=2019-01-04T14:34:09.123Z :bob!ident@host PRIVMSG alice :hello',
  '@batch=ID;msgid=1235;time=2019-01-04T14:34:10.123Z :alice!ident@host PRIVMSG bob :hi! how are you?',
  "@batch=ID;msgid=1238;time=2019-01-04T14:34:16.123Z; :bob!ident@host PRIVMSG alice :I'm good, thank you!",
  ':irc.host BATCH -ID',
];

/** chathistory.md, "Errors and Warnings": the command and the target are those that were given. */
export const REFUSALS = [
  'FAIL CHATHISTORY INVALID_PARAMS AFTER :Insufficient parameters',
  'FAIL CHATHISTORY INVALID_TARGET AFTER #channel :Messages could not be retrieved',
  'FAIL CHATHISTORY MESSAGE_ERROR AFTER #channel :Messages could not be retrieved',
];

/** batch.md: a simple batch, interleaving batches, and a nested one. */
export const BATCHES = [
  ':irc.host BATCH +yXNAbvnRHTRBv netsplit irc.hub other.host',
  '@batch=yXNAbvnRHTRBv :aji!a@a QUIT :irc.hub other.host',
  '@batch=yXNAbvnRHTRBv :nenolod!a@a QUIT :irc.hub other.host',
  ':nick!user@host PRIVMSG #channel :This is not in batch, so processed immediately',
  '@batch=yXNAbvnRHTRBv :jilles!a@a QUIT :irc.hub other.host',
  ':irc.host BATCH -yXNAbvnRHTRBv',
  ':irc.host BATCH +1 example.com/foo',
  '@batch=1 :nick!user@host PRIVMSG #channel :Message 1',
  ':irc.host BATCH +2 example.com/foo',
  '@batch=1 :nick!user@host PRIVMSG #channel :Message 2',
  '@batch=2 :nick!user@host PRIVMSG #channel :Message 4',
  '@batch=1 :nick!user@host PRIVMSG #channel :Message 3',
  ':irc.host BATCH -1',
  '@batch=2 :nick!user@host PRIVMSG #channel :Message 5',
  ':irc.host BATCH -2',
  ':irc.host BATCH +outer example.com/foo',
  '@batch=outer :irc.host BATCH +inner example.com/bar',
  '@batch=inner :nick!user@host PRIVMSG #channel :Hi',
  '@batch=outer :irc.host BATCH -inner',
  ':irc.host BATCH -outer',
];

/** server-time.md, the second in a leap second. */
export const TIMES = [
  '@time=2011-10-19T16:40:51.620Z :Angel!angel@example.org PRIVMSG Wiz :Hello',
  '@time=2012-06-30T23:59:60.419Z :John!~john@1.2.3.4 JOIN #chan',
];

/** echo-message.md and labeled-response.md: what comes back to `example` and to `nick`, who said it. */
export const ECHOES = [
  ':example!ex@example.com PRIVMSG Attila :hi',
  ':example!ex@example.com PRIVMSG #ircv3 :back from lunch',
];
export const LABELED_ECHO = '@label=pQraCjj82e :nick!user@host PRIVMSG #channel :Hello!';

/** labeled-response.md: a refusal with a label, and an answer in a batch. */
export const LABELED = [
  '@label=dc11f13f11 :irc.example.com 401 * nick :No such nick/channel',
  '@label=mGhe5V7RTV :irc.example.com BATCH +NMzYSq45x labeled-response',
  '@batch=NMzYSq45x :irc.example.com 311 client nick ~ident host * :Name',
  '@batch=NMzYSq45x :irc.example.com 318 client nick :End of /WHOIS list.',
  ':irc.example.com BATCH -NMzYSq45x',
  '@label=abc :irc.example.com ACK',
];
