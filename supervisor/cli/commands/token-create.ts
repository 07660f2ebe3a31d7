// `svc token create`: makes a token for http.token, http.demoToken or http.tokens[]. The token is printed, not stored.
import { randomBytes } from 'node:crypto';
import { EXIT } from '../../../shared/process/exit-codes.ts';
import type { Command } from '../command.ts';

const TOKEN_BYTES = 32;

export const command: Command = {
  noun: 'token',
  verb: 'create',
  summary: 'Makes a token of 256 random bits, and prints it',
  examples: ['svc token create', 'printf "HTTP_TOKEN=%s\\n" "$(svc token create)" >> .env && chmod 600 .env'],
  run({ print }) {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    print.text(token);
    print.json({ token, bits: TOKEN_BYTES * 8 });
    return Promise.resolve(EXIT.ok);
  },
};
