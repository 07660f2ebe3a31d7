// A command of the Workroom that is answered before its commit. A catalog that is written in a unit of its own, after the events.
import type { Statement, Unit, UnitAnswer, Writer } from '../../../../../worker/database/unit.ts';
import { Workroom as Real } from '../../../../../worker/workroom/workroom.ts';
import { planted } from './planted.ts';

type Arguments = ConstructorParameters<typeof Real>;

export class Workroom extends Real {
  constructor(...[core, settings, due]: Arguments) {
    super({ ...core, writer: distorted(core.writer) }, settings, due);
  }
}

const distorted = (writer: Writer): Writer => ({
  onHead: (listener) => writer.onHead(listener),
  commit: async (unit) => {
    if (planted('workroom-answer-early')) return answeredEarly(writer, unit);
    return planted('workroom-catalog-apart') ? inTwoUnits(writer, unit) : writer.commit(unit);
  },
});

function answeredEarly(writer: Writer, unit: Unit): UnitAnswer {
  writer.commit(unit).catch(() => {});
  return { kind: 'committed', rows: [], head: 0 };
}

const isOfCatalog = ({ sql }: Statement): boolean => /^(?:UPDATE|INSERT INTO) workroom_catalog/.test(sql);

async function inTwoUnits(writer: Writer, unit: Unit): Promise<UnitAnswer> {
  const events = unit.statements.filter((statement) => !isOfCatalog(statement));
  const answer = await writer.commit({ ...unit, statements: events });
  if (answer.kind === 'refused') return answer;
  const rest = await writer.commit({ ...unit, statements: unit.statements.filter(isOfCatalog) });
  return rest.kind === 'refused' ? rest : answer;
}
