// `svc checkpoint export|import`: one file for another disk or machine. Neither needs a host.
import { resolve } from 'node:path';
import { readSmallFile } from '../../../../shared/config/checks/small-file.ts';
import { EXIT } from '../../../../shared/process/exit-codes.ts';
import { SvcError } from '../../../../shared/svc-error.ts';
import type { Command } from '../../command.ts';
import { textArgument, textOption } from '../../options.ts';
import { byteText } from '../../output/byte-text.ts';
import { exportCheckpoint, importCheckpoint } from '../../start/worker-entry.ts';
import { checkpointName } from './read.ts';

type Options = Readonly<Record<string, unknown>>;

const exportIt: Command = {
  noun: 'checkpoint',
  verb: 'export',
  args: '<name>',
  summary: 'Writes a checkpoint as one archive, encrypted on request; needs no host',
  writesState: true, // the folder in which it is made lies beside the checkpoints
  options: [
    { flags: '--to <file>', description: 'File or folder; default: svc-<project>-<name>.tar.gz here' },
    { flags: '--passphrase-file <file>', description: 'Encrypts with the passphrase in this file' },
    { flags: '--recipient <key>', description: 'Encrypts for a key of age, age1…; several with commas' },
  ],
  examples: [
    'svc checkpoint export c12 --to /mnt/backup',
    'svc checkpoint export c12 --recipient age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p',
  ],
  async run({ print, json, cwd, env, project }, [given], options) {
    const name = checkpointName(given);
    const passphrase = secretLines(cwd, textOption(options, 'passphraseFile'))?.[0];
    const recipients = textOption(options, 'recipient')?.split(',');
    if (passphrase !== undefined && recipients !== undefined)
      throw new SvcError('usage', 'an archive is encrypted with --passphrase-file or --recipient, not both');
    const made = await exportCheckpoint({
      project: project(),
      environment: env,
      name,
      to: resolve(cwd, textOption(options, 'to') ?? '.'),
      lock: passphrase !== undefined ? { passphrase } : recipients !== undefined ? { recipients } : undefined,
    });
    if (json) print.json(made);
    else {
      const proof = made.isReadBack ? 'read back' : 'not read back: only the owner of the key can open it';
      print.text(`${print.color.good(name)} in ${made.file}, ${byteText(made.bytes)}, ${proof}`);
      print.text(`manifest ${made.manifest}`);
      print.text(print.color.dim('keep that line elsewhere: svc checkpoint import FILE --expect <manifest>'));
      if (!made.encrypted)
        print.note(`${print.color.warn('warning:')} it is not encrypted, and holds the messages of people`);
    }
    return EXIT.ok;
  },
};

const importIt: Command = {
  noun: 'checkpoint',
  verb: 'import',
  args: '<file>',
  summary: 'Takes an archive in as a checkpoint with a new number; needs no host',
  options: [
    { flags: '--expect <sha256>', description: 'SHA-256 of its manifest, as the export printed it' },
    { flags: '--passphrase-file <file>', description: 'The passphrase of the archive' },
    { flags: '--identity-file <file>', description: 'A key of age, as age-keygen writes it' },
  ],
  examples: ['svc checkpoint import svc-shop-c12.tar.gz', 'svc checkpoint import c12.age --identity-file key.txt'],
  writesState: true,
  async run({ print, json, cwd, env, project }, [given], options) {
    const key = keyOf(cwd, options);
    const expect = textOption(options, 'expect');
    if (expect !== undefined && !/^[0-9a-f]{64}$/.test(expect))
      throw new SvcError('usage', '--expect takes 64 characters 0-9 and a-f', {
        hint: '`svc checkpoint export` prints them as "manifest".',
      });
    const { name, sha256, manifest } = await importCheckpoint({
      project: project(),
      environment: env,
      file: resolve(cwd, textArgument(given, '<file>')),
      key,
      expect,
    });
    if (json)
      print.json({
        name,
        was: manifest.name,
        project: manifest.project,
        createdAt: manifest.createdAt,
        manifest: sha256,
      });
    else {
      print.text(`${print.color.good(name)} is ${manifest.name} of ${manifest.createdAt}, manifest ${sha256}`);
      print.text(print.color.dim(`svc checkpoint verify ${name} proves that it can be restored here`));
    }
    return EXIT.ok;
  },
};

function keyOf(cwd: string, options: Options) {
  const passphrase = secretLines(cwd, textOption(options, 'passphraseFile'))?.[0];
  const identities = secretLines(cwd, textOption(options, 'identityFile'));
  if (passphrase !== undefined && identities !== undefined)
    throw new SvcError('usage', 'an archive is opened with --passphrase-file or --identity-file, not both');
  if (passphrase !== undefined) return { passphrase };
  return identities === undefined ? undefined : { identities };
}

/** Lines that are no comment. Undefined without a file. */
function secretLines(cwd: string, path: string | undefined): readonly [string, ...string[]] | undefined {
  if (path === undefined) return undefined;
  const file = readSmallFile(resolve(cwd, path));
  if (file.kind !== 'text')
    throw new SvcError('invalid_request', `${path} ${file.kind === 'absent' ? 'is not there' : file.reason}`);
  const [first, ...rest] = file.text.split(/\r?\n/).filter((line) => line !== '' && !line.startsWith('#'));
  if (first === undefined) throw new SvcError('invalid_request', `${path} is empty`);
  return [first, ...rest];
}

export const commands: Command[] = [exportIt, importIt];
