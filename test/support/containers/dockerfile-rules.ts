// Rules for a Dockerfile that svc writes. Each has a Dockerfile that breaks it, in the test beside the target.

interface Instruction {
  readonly word: string;
  readonly text: string;
}

interface Stage {
  readonly image: string;
  readonly instructions: readonly Instruction[];
}

interface Read {
  /** What stands before the first FROM. */
  readonly head: readonly Instruction[];
  readonly stages: readonly Stage[];
  readonly last: Stage;
  readonly build: Stage;
  readonly all: readonly Instruction[];
}

const EXEC_FORM = /^\[\s*".*"\s*\]$/su;
const SECRET = /token|secret|password|passwd|api_?key|private_?key|credential/iu;
const INSTALLERS = /\b(curl|wget|apt|apt-get|apk|yum|dnf)\b/u;

/** Names of the rules, in the order in which a Dockerfile is read. */
export const DOCKERFILE_RULES: Readonly<Record<string, (file: Read) => boolean>> = {
  'each image has a tag or a digest, and none is latest': ({ head, stages }) =>
    stages.every(({ image }) => {
      const named = imageOf(image, head);
      return /@sha256:[\da-f]{64}$|:[\w.-]+$/u.test(named) && !named.endsWith(':latest');
    }),
  'each image can be replaced by an argument': ({ stages }) => stages.every(({ image }) => /^\$\{\w+\}$/u.test(image)),
  'code is built in another image than it runs in': ({ stages, build, last }) =>
    stages.length > 1 && last.image !== build.image,
  'nothing is fetched by ADD': ({ all }) => all.every(({ word }) => word !== 'ADD'),
  'no argument and no variable is named like a secret': ({ all }) =>
    all.every(({ word, text }) => (word !== 'ARG' && word !== 'ENV') || !SECRET.test(text)),
  'packages come from the lockfile alone': ({ all }) =>
    all.every(({ word, text }) => word !== 'RUN' || !/\bnpm (install|i|add)\b|\bnpx\b/u.test(text)),
  'packages are installed before the code is copied': ({ build }) => {
    const installed = build.instructions.findIndex(({ text }) => text.includes('npm ci'));
    const copied = build.instructions.findIndex(({ word, text }) => word === 'COPY' && text.startsWith('. '));
    return installed >= 0 && (copied < 0 || installed < copied);
  },
  'packages of development are removed': ({ build }) =>
    build.instructions.some(({ text }) => /npm prune --omit=dev/u.test(text)),
  'the last image takes files from the first alone': ({ last }) =>
    last.instructions.every(({ word, text }) => word !== 'COPY' || text.startsWith('--from=')),
  'the last image installs nothing and runs no shell': ({ last }) =>
    last.instructions.every(({ word, text }) => word !== 'RUN' || (EXEC_FORM.test(text) && !INSTALLERS.test(text))),
  'code belongs to root, and only state to the user': ({ last }) =>
    last.instructions.every(({ text }) => !text.includes('--chown=') || / \/state \S+$/u.test(text)),
  'no file is open to all for writing': ({ all }) =>
    all.every(({ text }) => !/chmod\b.*(\b[0-7]?[0-7][0-7][2367]\b|[ao]\+\S*w)/u.test(text)),
  'the last user is a number other than root': ({ last }) =>
    /^[1-9]\d*:[1-9]\d*$/u.test(last.instructions.findLast(({ word }) => word === 'USER')?.text ?? ''),
  'the project is assembled once, as that user, while the image is built': ({ last }) => {
    const user = last.instructions.findIndex(({ word }) => word === 'USER');
    const check = last.instructions.findIndex(({ text }) => /"--once", "--mode", "test"/u.test(text));
    return user >= 0 && check > user;
  },
  'start and health check have the exec form': ({ last }) => {
    const start = last.instructions.filter(({ word }) => word === 'CMD' || word === 'ENTRYPOINT');
    const health = last.instructions
      .find(({ word }) => word === 'HEALTHCHECK')
      ?.text.replace(/^(--\S+\s+)*CMD\s+/u, '');
    return start.length > 0 && start.every(({ text }) => EXEC_FORM.test(text)) && EXEC_FORM.test(health ?? '');
  },
};

/** Names of the rules that a Dockerfile breaks. */
export function brokenRules(text: string): readonly string[] {
  const file = readDockerfile(text);
  return Object.entries(DOCKERFILE_RULES)
    .filter(([, holds]) => !holds(file))
    .map(([name]) => name);
}

function readDockerfile(text: string): Read {
  const all = text
    .replaceAll(/^\s*#.*\n/gmu, '')
    .replaceAll(/\\\n\s*/gu, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, word = '', rest = ''] = /^\s*(\S+)\s*(.*)$/u.exec(line) ?? [];
      return { word: word.toUpperCase(), text: rest };
    });
  const starts = all.flatMap(({ word }, index) => (word === 'FROM' ? [index] : []));
  const stages = starts.map((start, index) => ({
    image: (all[start]?.text ?? '').split(/\s+/u)[0] ?? '',
    instructions: all.slice(start + 1, starts[index + 1]),
  }));
  const none = { image: '', instructions: [] };
  return { head: all.slice(0, starts[0]), stages, build: stages[0] ?? none, last: stages.at(-1) ?? none, all };
}

/** An image that is an argument is the argument's default. */
function imageOf(image: string, head: readonly Instruction[]): string {
  const name = /^\$\{?(\w+)\}?$/u.exec(image)?.[1];
  if (name === undefined) return image;
  return (
    head.find(({ word, text }) => word === 'ARG' && text.startsWith(`${name}=`))?.text.slice(name.length + 1) ?? ''
  );
}
