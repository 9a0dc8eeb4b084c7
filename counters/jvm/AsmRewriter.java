package wirebench;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import jdk.internal.org.objectweb.asm.ClassReader;
import jdk.internal.org.objectweb.asm.ClassVisitor;
import jdk.internal.org.objectweb.asm.ClassWriter;
import jdk.internal.org.objectweb.asm.Opcodes;
import jdk.internal.org.objectweb.asm.tree.AbstractInsnNode;
import jdk.internal.org.objectweb.asm.tree.ClassNode;
import jdk.internal.org.objectweb.asm.tree.InsnList;
import jdk.internal.org.objectweb.asm.tree.JumpInsnNode;
import jdk.internal.org.objectweb.asm.tree.LabelNode;
import jdk.internal.org.objectweb.asm.tree.LdcInsnNode;
import jdk.internal.org.objectweb.asm.tree.LineNumberNode;
import jdk.internal.org.objectweb.asm.tree.LookupSwitchInsnNode;
import jdk.internal.org.objectweb.asm.tree.MethodInsnNode;
import jdk.internal.org.objectweb.asm.tree.MethodNode;
import jdk.internal.org.objectweb.asm.tree.TableSwitchInsnNode;
import jdk.internal.org.objectweb.asm.tree.TryCatchBlockNode;

/** Counts with the ASM that a JDK before 24 has inside. */
final class AsmRewriter implements Agent.Rewriter {
    /** The newest version of ASM, whose constant a JDK that is older does not have. */
    private static final int NEWEST = newest();

    private static int newest() {
        try {
            return Opcodes.class.getField("ASM9").getInt(null);
        } catch (ReflectiveOperationException error) {
            return Opcodes.ASM8;
        }
    }

    @Override
    public String source(byte[] bytes) {
        String[] found = new String[1];
        try {
            new ClassReader(bytes).accept(new ClassVisitor(NEWEST) {
                @Override
                public void visitSource(String source, String debug) {
                    found[0] = source;
                }
            }, ClassReader.SKIP_CODE | ClassReader.SKIP_FRAMES);
        } catch (UnsupportedOperationException error) {
            // ASM 8 does not know sealed classes, which few programs have; they run uncounted.
            return null;
        }
        return found[0];
    }

    @Override
    public byte[] rewrite(byte[] bytes, ClassLoader loader, Agent.Numbers numbers) {
        ClassReader reader = new ClassReader(bytes);
        ClassNode type = new ClassNode(NEWEST);
        reader.accept(type, 0);
        for (MethodNode method : type.methods) {
            int number = method.instructions.size() == 0 ? -1 : numbers.of(method.name, lines(method));
            if (number >= 0) {
                count(method, number);
            }
        }
        ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        type.accept(writer);
        return writer.toByteArray();
    }

    private static int[] lines(MethodNode method) {
        return Arrays.stream(method.instructions.toArray())
            .filter(LineNumberNode.class::isInstance)
            .mapToInt(one -> ((LineNumberNode) one).line)
            .toArray();
    }

    private static void count(MethodNode method, int number) {
        Set<LabelNode> targets = new HashSet<>();
        for (AbstractInsnNode one : method.instructions) {
            if (one instanceof JumpInsnNode) {
                targets.add(((JumpInsnNode) one).label);
            } else if (one instanceof TableSwitchInsnNode) {
                targets.addAll(((TableSwitchInsnNode) one).labels);
                targets.add(((TableSwitchInsnNode) one).dflt);
            } else if (one instanceof LookupSwitchInsnNode) {
                targets.addAll(((LookupSwitchInsnNode) one).labels);
                targets.add(((LookupSwitchInsnNode) one).dflt);
            }
        }
        for (TryCatchBlockNode block : method.tryCatchBlocks) {
            targets.add(block.handler);
        }
        AbstractInsnNode first = null;
        int instructions = 0;
        boolean begins = true;
        boolean isStart = true;
        for (AbstractInsnNode one : method.instructions.toArray()) {
            begins |= one instanceof LabelNode && targets.contains(one);
            if (one.getOpcode() < 0) {
                continue;
            }
            if (begins) {
                insert(method, first, number, instructions, isStart);
                isStart &= first == null;
                first = one;
                instructions = 0;
            }
            instructions++;
            begins = one instanceof JumpInsnNode || one instanceof TableSwitchInsnNode || one instanceof LookupSwitchInsnNode;
        }
        insert(method, first, number, instructions, isStart);
    }

    private static void insert(MethodNode method, AbstractInsnNode first, int number, int instructions, boolean isStart) {
        if (first == null) {
            return;
        }
        InsnList added = new InsnList();
        if (isStart) {
            added.add(new LdcInsnNode(number));
            added.add(new MethodInsnNode(Opcodes.INVOKESTATIC, "wirebench/Counter", "call", "(I)V", false));
        }
        added.add(new LdcInsnNode(number));
        added.add(new LdcInsnNode(instructions));
        added.add(new MethodInsnNode(Opcodes.INVOKESTATIC, "wirebench/Counter", "block", "(II)V", false));
        if (first.getOpcode() == Opcodes.NEW) {
            // The verifier knows the new object by the place of this instruction, which a label before it names.
            method.instructions.insert(first, added);
        } else {
            method.instructions.insertBefore(first, added);
        }
    }
}
