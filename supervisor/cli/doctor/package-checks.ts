// Checks of where the project gets the package svc from.
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readFileSync, statSync } from 'node:fs';
import { basename, join, relative, resolve, sep } from 'node:path';
import { isRecord } from '../../../shared/config/schema/json-schema.ts';
import { type Check, type Finding, fault, ok, type Subject, skip, warn } from './check.ts';

export const PACKAGE_CHECKS: readonly Check[] = [
  { id: 'package.svc', title: 'The package svc comes with the project, and is the locked one', run: svcPackage },
];

/** The command that puts svc into the project. */
function bringIn(file: string, project: string): string {
  const from = relative(project, file);
  const isPacked = file.endsWith('.tgz');
  const copy = isPacked ? `cp ${from} vendor/` : `npm pack ${from} --pack-destination vendor`;
  return `mkdir -p vendor && ${copy} && npm install ./vendor/${isPacked ? basename(file) : 'svc-*.tgz'}`;
}

function svcPackage({ paths: { project, lockfile }, manifest }: Subject): Finding {
  const spec = ['dependencies', 'devDependencies', 'optionalDependencies']
    .map((key) => manifest?.[key])
    .map((list) => (isRecord(list) ? list['svc'] : undefined))
    .find((text) => typeof text === 'string');
  if (typeof spec !== 'string') return skip('package.json does not name svc');
  const link = join(project, 'node_modules/svc');
  const isLink = lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  const file = fileOf(spec, project);
  if (file !== undefined && !isInside(file, project))
    return fault(
      `package.json asks for ${spec}, which is outside of the project: elsewhere npm ci installs a link to nowhere`,
      bringIn(file, project),
    );
  if (isLink && !existsSync(link)) return fault('node_modules/svc is a link to nowhere', 'npm ci');
  return file === undefined ? ok(`package.json asks for ${spec}`) : packedFile(file, { project, lockfile });
}

/** The path in a specification that npm takes for one. Undefined for a version, a tag or an address. */
function fileOf(spec: string, project: string): string | undefined {
  const [, path] = /^(?:file:|link:|portal:)(.+)$/.exec(spec) ?? /^(\.{0,2}\/.+)$/.exec(spec) ?? [];
  return path === undefined ? undefined : resolve(project, path.replace(/^\/\/(?=\/)/, ''));
}

const isInside = (path: string, folder: string): boolean => path.startsWith(folder + sep);

function packedFile(file: string, { project, lockfile }: { project: string; lockfile: string }): Finding {
  const name = relative(project, file);
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined)
    return fault(
      `${name} is not there: npm ci cannot install svc`,
      'put it back, or pack svc anew: npm pack <its folder> --pack-destination vendor',
    );
  if (stat.isDirectory()) return ok(`svc lies in ${name}`);
  const locked = lockedIntegrity(lockfile);
  if (locked === undefined) return skip(`${name} is there, and no lockfile says which it should be`);
  const [algorithm = '', digest] = locked.split('-', 2);
  if (digest === undefined || createHash(algorithm).update(readFileSync(file)).digest('base64') === digest)
    return ok(`${name} is the locked one`);
  return warn(`${name} is not the one in package-lock.json: npm ci refuses it`, `npm install ./${name}`);
}

function lockedIntegrity(lockfile: string): string | undefined {
  try {
    const { packages } = JSON.parse(readFileSync(lockfile, 'utf8')) as { readonly packages?: unknown };
    const entry = isRecord(packages) ? packages['node_modules/svc'] : undefined;
    const integrity = isRecord(entry) ? entry['integrity'] : undefined;
    return typeof integrity === 'string' && /^sha(256|384|512)-/.test(integrity) ? integrity.split(' ')[0] : undefined;
  } catch {
    return undefined; // the check of the lockfile tells it
  }
}
