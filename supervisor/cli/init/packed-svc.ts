// Packs this svc, so that a new project has it inside: a path that leads out of the project is a dangling link on every other machine.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SvcError } from '../../../shared/svc-error.ts';
import { ownPackage } from './own-package.ts';
import { runNpm } from './run-npm.ts';
import type { TemplateFile } from './templates.ts';

export interface PackedSvc {
  /** What package.json asks for. */
  readonly spec: string;
  readonly file: TemplateFile;
}

const FOLDER = 'vendor';

/** Takes seconds. Throws `refused` if svc is not built or npm cannot pack it. */
export async function packSvc(call: Pick<Parameters<typeof runNpm>[1], 'env' | 'signal'>): Promise<PackedSvc> {
  const { root } = ownPackage();
  if (!existsSync(join(root, 'dist/cli.js'))) throw refused(`${root} is not built`, `run npm run build there`);
  const folder = mkdtempSync(join(tmpdir(), 'svc-pack-'));
  try {
    const packed = await runNpm(['pack', root, '--ignore-scripts', '--loglevel=error'], { ...call, cwd: folder });
    const [name] = readdirSync(folder).filter((file) => file.endsWith('.tgz'));
    if (packed !== undefined || name === undefined)
      throw refused(`npm could not pack it${packed === undefined ? '' : `: ${packed}`}`);
    const path = `${FOLDER}/${name}`;
    return { spec: `file:${path}`, file: { path, text: readFileSync(join(folder, name)), mode: 0o644 } };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const refused = (reason: string, remedy = 'see to npm'): SvcError =>
  new SvcError('refused', `nothing was written: svc cannot be put into the project: ${reason}`, {
    hint: `${remedy}, or say with --svc where the project gets svc from`,
  });
