package wirebench;

import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.Instruction;
import java.lang.classfile.Label;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.lang.classfile.instruction.BranchInstruction;
import java.lang.classfile.instruction.ExceptionCatch;
import java.lang.classfile.instruction.LabelTarget;
import java.lang.classfile.instruction.LineNumber;
import java.lang.classfile.instruction.LookupSwitchInstruction;
import java.lang.classfile.instruction.TableSwitchInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Counts with the class files of a JDK from 24 on. */
final class ClassFileRewriter implements Agent.Rewriter {
    private static final ClassDesc COUNTER = ClassDesc.of("wirebench.Counter");
    private static final MethodTypeDesc CALL = MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_int);
    private static final MethodTypeDesc BLOCK =
        MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_int, ConstantDescs.CD_int);

    @Override
    public String source(byte[] bytes) {
        ClassModel type = ClassFile.of().parse(bytes);
        return type.findAttribute(Attributes.sourceFile()).map(found -> found.sourceFile().stringValue()).orElse(null);
    }

    @Override
    public byte[] rewrite(byte[] bytes, ClassLoader loader, Agent.Numbers numbers) {
        ClassHierarchyResolver resolver = ClassHierarchyResolver.ofResourceParsing(loader)
            .orElse(ClassHierarchyResolver.defaultResolver());
        ClassFile files = ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(resolver));
        ClassModel type = files.parse(bytes);
        return files.transformClass(type, (builder, element) -> {
            if (!(element instanceof MethodModel method) || method.code().isEmpty()) {
                builder.with(element);
                return;
            }
            List<CodeElement> code = method.code().get().elementList();
            int number = numbers.of(method.methodName().stringValue(), lines(code));
            MethodTransform counted = (inner, part) -> {
                if (part instanceof CodeModel && number >= 0) {
                    inner.withCode(body -> count(body, code, number));
                } else {
                    inner.with(part);
                }
            };
            builder.transformMethod(method, counted);
        });
    }

    private static int[] lines(List<CodeElement> code) {
        return code.stream().filter(LineNumber.class::isInstance).mapToInt(one -> ((LineNumber) one).line()).toArray();
    }

    private static void count(CodeBuilder body, List<CodeElement> code, int number) {
        Set<Label> targets = new HashSet<>();
        for (CodeElement one : code) {
            switch (one) {
                case BranchInstruction branch -> targets.add(branch.target());
                case TableSwitchInstruction table -> {
                    targets.add(table.defaultTarget());
                    table.cases().forEach(each -> targets.add(each.target()));
                }
                case LookupSwitchInstruction table -> {
                    targets.add(table.defaultTarget());
                    table.cases().forEach(each -> targets.add(each.target()));
                }
                case ExceptionCatch caught -> targets.add(caught.handler());
                default -> { }
            }
        }
        body.loadConstant(number).invokestatic(COUNTER, "call", CALL);
        boolean begins = true;
        for (int at = 0; at < code.size(); at++) {
            CodeElement one = code.get(at);
            begins |= one instanceof LabelTarget label && targets.contains(label.label());
            if (begins && one instanceof Instruction) {
                body.loadConstant(number).loadConstant(instructions(code, at, targets)).invokestatic(COUNTER, "block", BLOCK);
                begins = false;
            }
            body.with(one);
            begins |= jumps(one);
        }
    }

    private static boolean jumps(CodeElement one) {
        return one instanceof BranchInstruction || one instanceof TableSwitchInstruction || one instanceof LookupSwitchInstruction;
    }

    /** The instructions of the block that begins there. */
    private static int instructions(List<CodeElement> code, int at, Set<Label> targets) {
        int instructions = 0;
        for (CodeElement one : code.subList(at, code.size())) {
            if (one instanceof LabelTarget label && targets.contains(label.label())) {
                break;
            }
            instructions += one instanceof Instruction ? 1 : 0;
            if (jumps(one)) {
                break;
            }
        }
        return instructions;
    }
}
