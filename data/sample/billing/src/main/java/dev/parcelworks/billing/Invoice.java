package dev.parcelworks.billing;

import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** A bill for one business account. Amounts are in cents. */
public final class Invoice {

    /** One position on the bill. */
    public record Line(String text, int quantity, long unitCents) {
        public long amount() {
            return quantity * unitCents;
        }
    }

    private final String account;
    private final LocalDate issued;
    private final List<Line> lines = new ArrayList<>();

    public Invoice(String account, LocalDate issued) {
        this.account = account;
        this.issued = issued;
    }

    /** Adds a single item. */
    public void addLine(String text, long cents) {
        addLine(text, 1, cents);
    }

    /** Adds several equal items. */
    public void addLine(String text, int quantity, long unitCents) {
        if (quantity <= 0) {
            throw new IllegalArgumentException("quantity must be positive");
        }
        lines.add(new Line(text, quantity, unitCents));
    }

    public List<Line> lines() {
        return Collections.unmodifiableList(lines);
    }

    public String account() {
        return account;
    }

    /** The last day on which the bill can be paid without a reminder fee. */
    public LocalDate dueDate(int graceDays) {
        LocalDate due = issued.plusDays(graceDays);
        return switch (due.getDayOfWeek()) {
            case SATURDAY -> due.plusDays(2);
            case SUNDAY -> due.plusDays(1);
            default -> due;
        };
    }
}
