from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0015_rubrics_of_any_kind'),
    ]

    operations = [
        migrations.AddField(
            model_name='rater',
            name='made_from',
            field=models.TextField(blank=True, default='', help_text='of an aggregate: from whom, how and when'),
            preserve_default=False,
        ),
        migrations.AlterField(
            model_name='rater',
            name='kind',
            field=models.CharField(choices=[('human', 'person'), ('model', 'model'), ('baseline', 'baseline'), ('aggregate', 'aggregate')], max_length=9),
        ),
    ]
